#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the Python package on a large trace: each join, and each picture, in a process of its own.

Usage: large.py make TRACE OUT [ROWS]    copies TRACE after itself in time, with new ids and files, until calls and allocations have ROWS rows (10 M)
       large.py measure OUT [NAME...]    seconds of work after the imports, and the most memory, of the joins and pictures of that name (all)
"""

import json
import math
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

PACKAGE = Path(__file__).resolve().parents[3] / "runner" / "python"
ROWS = 10_000_000
EVENTS = ("call", "alloc", "wait", "step", "phase", "mark", "block", "block_part", "sample_cpu", "sample_machine", "sample_disk")
MOMENTS = ("ts", "end_min", "end_max", "ts_insert", "ts_issue", "ts_done")
IDS = ("call_id", "req_id", "op_id", "file_id", "file2_id")
JOINS = {"calls_with_requests": {}, "time_by_file": {}, "time_by_worker": {}, "time_by_step": {}, "gpu_idle": {}, "findings": {}} | {
    f"time_by_layer {by}": {"by": by} for by in ("run", "process", "file", "function")}
PICTURES = ("timeline", "latency", "sizes", "scatter", "steps")


def shifted(table, number, length, steps):
    """The copy `number` of a table."""
    for name in table.column_names:
        by = length if name in MOMENTS else 10**12 if name in IDS else steps if name == "step" else 0
        if by:
            place = table.schema.get_field_index(name)
            table = table.set_column(place, table.schema.field(name), pc.add(table[name], pa.scalar(by * number, table[name].type)))
    return table


def copy_of(table, parts, number, steps, length):
    whole = shifted(pa.concat_tables(pq.read_table(part) for part in parts), number, length, steps)
    if table == "file" and number:
        place = whole.schema.get_field_index("path")
        whole = whole.set_column(place, whole.schema.field("path"), pc.binary_join_element_wise(whole["path"], f"copy {number}", "/"))
    return whole


def make(source, out, rows=ROWS):
    facts = json.loads((source / "run.json").read_text())
    length = int(facts["wall_ns"])
    count = {name: sum(pq.read_metadata(part).num_rows for part in (source / "tables" / name).glob("*.parquet")) for name in (*EVENTS, "file")}
    copies = math.ceil(int(rows) / max(1, count["call"]))
    facts["wall_ns"], facts["end_ns"] = length * copies, facts["start_ns"] + length * copies
    shutil.copytree(source, out)
    (out / "run.json").write_text(json.dumps(facts))
    for table in (name for name in count if count[name]):
        parts = sorted((source / "tables" / table).glob("*.parquet"))
        here = min(copies, math.ceil(int(rows) / count[table]))
        with pq.ParquetWriter(out / "tables" / table / "part-00000.parquet", pq.read_schema(parts[0]), compression="zstd") as writer:
            for number in range(here):
                writer.write_table(copy_of(table, parts, number, count["step"], length), row_group_size=100_000)
        print(f"{table}: {count[table] * here:,} rows")


def measure_one(folder, name):
    sys.path.insert(0, str(PACKAGE))
    import mlrun_trace
    from mlrun_trace.plot import draw

    begin, cpu_begin = time.monotonic(), time.process_time()
    if name in PICTURES:
        with tempfile.TemporaryDirectory() as scratch:
            draw(mlrun_trace.open(folder), name, Path(scratch) / "picture.png")
        rows = ""
    else:
        rows = getattr(mlrun_trace.open(folder), name.split()[0])(**JOINS[name]).arrow().num_rows
    seconds, cpu_s = time.monotonic() - begin, time.process_time() - cpu_begin
    print(f"{name:<24} {seconds:6.2f} s, {cpu_s:6.2f} s of CPU {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:7.0f} MiB  {rows}")


def main():
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
    elif sys.argv[1] == "one":
        measure_one(sys.argv[2], sys.argv[3])
    else:
        for name in sys.argv[3:] or (*JOINS, *PICTURES):
            done = subprocess.run([sys.executable, "-B", __file__, "one", sys.argv[2], name], check=False, capture_output=True, text=True)
            print(done.stdout or f"{name}: {done.stderr.strip().splitlines()[-1]}\n", end="", flush=True)


if __name__ == "__main__":
    main()
