# SPDX-License-Identifier: Apache-2.0
"""Whole numbers of a trace, and of a merged one, are not in byte-stream split, which only DuckDB 2.0 and later reads; a merge keeps
the encoding of a column."""

import json
import sys

import pyarrow.parquet
from lib import case

PROGRAM = "import os, sys\nfor i in range(300): os.pread(sys.stdin.fileno(), 4000 + i * 7, i * 11)"


def encodings_of(trace):
    """By table and column, of the largest file."""
    found = {}
    for path in sorted(trace.glob("tables/*/*.parquet")):
        file = pyarrow.parquet.ParquetFile(path).metadata
        for column in range(file.num_columns if file.num_row_groups else 0):
            chunk = file.row_group(0).column(column)
            found[path.parent.name, chunk.path_in_schema] = (chunk.physical_type, set(chunk.encodings))
    return found


def check(this):
    with open(this.data_file(), "rb") as data:
        one = this.trace(sys.executable, "-c", PROGRAM, stdin=data).folder
    done = this.run(case.MLRUN, "merge", one, "-o", this.path("merged"))
    this.equal("merge", done.returncode, 0, said=done.stderr)
    seen = encodings_of(one)
    this.true("columns", len(seen) > 100, len(seen))
    merged = encodings_of(this.path("merged"))
    for trace in (seen, merged):
        split = [name for name, (kind, encodings) in trace.items() if kind.startswith("INT") and "BYTE_STREAM_SPLIT" in encodings]
        this.equal("whole numbers in byte-stream split", split, [])
    this.equal("encoding of durations", seen["call", "dur"][1] & {"PLAIN", "RLE_DICTIONARY", "DELTA_BINARY_PACKED"}, {"PLAIN"})
    changed = {name: (encodings, merged[name][1]) for name, (_, encodings) in seen.items()
               if "RLE_DICTIONARY" not in encodings and encodings != merged.get(name, ("", encodings))[1]}
    this.equal("columns that a merge encodes otherwise", changed, {}, said=json.dumps(str(changed)))


if __name__ == "__main__":
    case.run(check)
