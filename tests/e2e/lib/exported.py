# SPDX-License-Identifier: Apache-2.0
"""One trace that is exported to every format, and what mlrun said of each export."""

import re
import shutil
import sys
from pathlib import Path

import pyarrow.parquet

from lib.case import MLRUN

VICTIM = Path(__file__).parent.parent / "victims" / "exchange.py"

OPTIONS = ("--sample=cpu,disk", "--stacks", "--python-stacks", "--alloc-min", "64K")


def trace_of(this):
    """A run with files, threads, a child, stacks and samples."""
    folder = this.path("files")
    folder.mkdir()
    return this.trace(sys.executable, VICTIM, folder, options=OPTIONS)


def rows_of(trace, table):
    """All rows of a table, or none."""
    parts = sorted((trace.folder / "tables" / table).glob("*.parquet"))
    return [row for part in parts for row in pyarrow.parquet.ParquetFile(part).read().to_pylist()]


def export(this, trace, form, name, *options, status=0):
    """The output, and what was printed."""
    out = this.path(name)
    done = this.run(MLRUN, "export", trace.folder, "--to", form, "-o", out, *options)
    this.equal(f"exit status of export --to {form}", done.returncode, status, said=done.stderr)
    return out, done.stdout


def account(printed):
    """{table: (rows written, rows left out)} of what export printed."""
    written = {m[1]: int(m[2]) for m in re.finditer(r"^  (\w+): (\d+) rows, \d+ events$", printed, re.M)}
    left = {}
    for m in re.finditer(r"^  not written: (\d+) rows of (\w+): ", printed, re.M):
        left[m[2]] = left.get(m[2], 0) + int(m[1])
    return {table: (written.get(table, 0), left.get(table, 0)) for table in written.keys() | left.keys()}


def events_of(printed, tables):
    """Events that export printed for these tables."""
    return sum(int(m[2]) for m in re.finditer(r"^  (\w+): \d+ rows, (\d+) events$", printed, re.M) if m[1] in tables)


def every_row_is_told_of(this, trace, printed):
    reported = account(printed)
    for table in sorted(path.name for path in (trace.folder / "tables").iterdir()):
        rows = sum(pyarrow.parquet.read_metadata(part).num_rows for part in (trace.folder / "tables" / table).glob("*.parquet"))
        this.equal(f"rows of {table}, written and left out", sum(reported.get(table, (0, 0))), rows, said=printed)


def with_rows(trace, folder, table, change):
    """A copy of a trace whose rows of one table are change(table)."""
    shutil.copytree(trace.folder, folder)
    for i, part in enumerate(sorted((folder / "tables" / table).glob("*.parquet"))):
        read = pyarrow.parquet.ParquetFile(part).read()
        pyarrow.parquet.write_table(change(read) if i == 0 else read.slice(0, 0), part)
    return folder
