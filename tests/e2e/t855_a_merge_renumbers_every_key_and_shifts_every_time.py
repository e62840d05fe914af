# SPDX-License-Identifier: Apache-2.0
"""Of two traces of programs that fill many tables, each row is in the merged trace: keys by one number more for all tables that use them,
times by one offset, all else as it was. So joins within a node give what they gave, and none finds a row of another node."""

import re
import sys

import duckdb
import pyarrow.parquet as pq
from lib import case, nodes

PROGRAM = """
import os, subprocess, sys, threading, time
sys.path.insert(0, sys.argv[2])
import mlrun_mark
mlrun_mark.push("barrier")
time.sleep(0.02)
mlrun_mark.pop()
thread = threading.Thread(target=lambda: open("/etc/passwd").read())
thread.start()
thread.join()
subprocess.run(["cat", "/etc/hostname"], check=True, stdout=subprocess.DEVNULL)
with open(sys.argv[1], "wb") as file:
    for _ in range(int(sys.argv[3])):
        file.write(b"x" * 10000)
        os.fsync(file.fileno())
blocks = [bytearray(200000) for _ in range(20)]
time.sleep(1.2)
"""
KEYS_WITHOUT_ID = {"site_library", "waker_req"}
# Of the kernel, unique within a process, or of 63 bits.
NO_KEYS = {"node_id", "correlation_id", "cgroup_id", "pci_id", "op_id", "outer_op_id", "flow_id"}


def check(this):
    this.mlrun = case.MLRUN
    program = this.path("work.py")
    program.write_text(PROGRAM)
    parts = []
    for number in range(2):
        trace = this.trace(sys.executable, program, this.path(f"data{number}"), case.SOURCE / "runner" / "python", 3 + number,
                           options=["--stacks", "--sample=cpu,memory,process", "--python-stacks"])
        parts.append(trace.folder)
    shift = nodes.Shift(3_000_000_000, 0, 0)
    plain = nodes.copy_of(parts[1], this.path("plain"))
    nodes.read_by_another_clock(parts[1], shift)
    out = this.path("merged")
    nodes.merge(this, *parts, out=out, options=["--offset", "-1s"])
    node = nodes.merged(out)["nodes"][1]
    this.equal("known by", (node["aligned_by"], node["offset_ns"]), ("given", 1_000_000_000))
    bases, tables = {}, 0
    for folder in sorted((out / "tables").iterdir()):
        if folder.name in ("node", "node_rank", "node_bytes", "node_skew"):
            continue
        table = pq.read_table(folder)
        named = {name for name in table.column_names if re.fullmatch(r"ts(_.*)?|.*_ts", name)}
        this.equal(f"moments of {folder.name} that nodes.MOMENTS lacks", named - nodes.MOMENTS, set())
        rows = table.to_pylist()
        for number, source in ((1, parts[0]), (2, plain)):
            before = pq.read_table(source / "tables" / folder.name).to_pylist()
            after = [row for row in rows if row["node_id"] == number]
            this.equal(f"rows of {folder.name}", len(after), len(before))
            tables += bool(before)
            moved = 0 if number == 1 else shift.offset_ns - node["offset_ns"]
            compare(this, folder.name, (before, after), moved, bases.setdefault(number, {}))
    this.true("tables with rows", tables > 40, tables)
    this.true("keys of the first node stay", set(bases[1].values()) == {0}, bases[1])
    this.true("keys of the second are behind them", all(base > 0 for base in bases[2].values()) and len(bases[2]) > 10, bases[2])
    joins(this, out, plain)
    barriers(this, parts)


def barriers(this, parts):
    """The programs ran one after the other: as a barrier, their ranges must overlap nevertheless."""
    out = this.path("by_marks")
    nodes.merge(this, *parts, out=out, options=["--marks", "barrier"])
    node = nodes.merged(out)["nodes"][1]
    this.equal("known by", (node["aligned_by"], node["marks"]), ("messages", 1))
    [first, second] = [(row["ts"], row["ts"] + row["dur"]) for row in this.opened(out).rows("mark") if row["domain"] == "api"]
    this.true("the ranges overlap", first[0] <= second[1] and second[0] <= first[1], (first, second))
    [skew] = nodes.merged(out)["skews"]
    this.equal("compared", (skew["communicator"], skew["operation"], skew["compared"]), ("barrier", "mark", 1))
    wrong = this.run(case.MLRUN, "merge", *parts, "-o", this.path("none"), "--marks", "no such mark")
    this.true("a mark that is not there", wrong.stderr.count('has no range "no such mark"') == 2, wrong.stderr)


def is_key(column):
    return column in KEYS_WITHOUT_ID or (column.endswith("_id") and column not in NO_KEYS)


def compare(this, table, rows, moved, bases):
    for before, after in zip(*rows, strict=True):
        for column, value in before.items():
            got = after[column]
            where = f"{table}.{column}"
            if table == "summary_value" and column == "value":
                continue  # by its name
            if value is None or isinstance(value, (str, bytes, bool, float)):
                this.equal(where, got, value)
            elif column in nodes.MOMENTS:
                this.true(where, got - value in (moved, 0) and (got - value == moved or value == 0), (value, got, moved))
            elif is_key(column):
                if value > 0:
                    this.equal(where, got - value, bases.setdefault(column, got - value))
                else:
                    this.equal(where, got, value)
            else:
                this.equal(where, got, value)


JOIN = """SELECT p.command, f.path, t.comm, c.func, count(*) FROM '{0}/tables/call/*.parquet' c
JOIN '{0}/tables/process/*.parquet' p USING (proc_id) JOIN '{0}/tables/file/*.parquet' f USING (file_id)
JOIN '{0}/tables/thread/*.parquet' t USING (thread_id) WHERE {1} GROUP BY ALL ORDER BY ALL"""


def joins(this, out, plain):
    got = duckdb.sql(JOIN.format(out, "c.node_id = 2")).fetchall()
    this.equal("a join of the second node", got, duckdb.sql(JOIN.format(plain, "true")).fetchall())
    [(strange,)] = duckdb.sql(f"SELECT count(*) FROM '{out}/tables/call/*.parquet' c JOIN '{out}/tables/file/*.parquet' f "
                              "USING (file_id) WHERE c.node_id != f.node_id").fetchall()
    this.equal("rows of another node", strange, 0)
    shown = this.run(case.MLRUN, "show", out, "call", "--limit", 2)
    this.equal("show", shown.returncode, 0, said=shown.stderr)


if __name__ == "__main__":
    case.run(check)
