# SPDX-License-Identifier: Apache-2.0
"""64 traces of a million events each become one in 512 MiB, also where every node has a connection with another one; the rates, and what a node
costs, are printed (no test fails on a time)."""

import os
import resource
import subprocess
import time

import pyarrow as pa
import pyarrow.parquet as pq
from lib import case, nodes

NODES = int(os.environ.get("MLRUN_NODES", "64"))
MEBIBYTES_MOST = 512


def check(this):
    make_spool = case.BUILD / "tests" / "make_spool"
    this.mlrun = case.MLRUN
    first = this.path("node0")
    this.equal("spool", this.run(make_spool, first, 1_000_000).returncode, 0)
    this.equal("trace", this.run(case.BUILD / "bin" / "mlrun-trace", "merge", first, timeout=600).returncode, 0)
    traces = [first]
    for number in range(1, NODES):
        trace = this.path(f"node{number}")
        subprocess.run(["cp", "-rl", first, trace], check=True)
        (trace / "run.json").unlink()
        (trace / "run.json").write_text((first / "run.json").read_text())
        nodes.edit_run(trace, lambda run, name=f"node{number}": run.update(session=name, host={"name": name, "boot_id": "one"}))
        traces.append(trace)
    nodes.edit_run(first, lambda run: run.update(host={"name": "node0", "boot_id": "one"}))
    merge(this, traces, "alone")
    for number, trace in enumerate(traces):
        connect(trace, number)
    merge(this, traces, "connected")


def merge(this, traces, name):
    out = this.path(name)
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    nodes.merge(this, *traces, out=out, options=["--quiet"])
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    mebibytes = after.ru_maxrss / 1024
    events = this.opened(out).run["totals"]["events"]
    files = [path for path in out.rglob("*") if path.is_file()]
    size, inodes = sum(path.stat().st_size for path in files), len(list(out.rglob("*")))
    print(f"{name}: {events} events of {NODES} nodes in {seconds:.1f} s, {processor:.1f} s of processors: {events / processor / 1e6:.2f} M/s of one, "
          f"{mebibytes:.0f} MiB, {size / NODES / 2**20:.2f} MiB, {len(files) / NODES:.1f} files and {inodes / NODES:.1f} inodes a node, "
          f"load {os.getloadavg()[0]:.1f}", flush=True)
    this.true("events", events >= NODES * 1_000_000, events)
    this.true(f"at most {MEBIBYTES_MOST} MiB", mebibytes <= MEBIBYTES_MOST, mebibytes)


def connect(trace, number):
    """The file that the trace uses most is a socket to the neighbour's: all calls have to be read for it."""
    calls = pq.read_table(trace / "tables" / "call", columns=["file_id"])["file_id"].drop_null().value_counts().to_pylist()
    socket = max(calls, key=lambda row: row["counts"])["values"]
    [path] = (trace / "tables" / "file").glob("*.parquet")
    table = pq.read_table(path)
    for column, node in (("own_address", number), ("address", number ^ 1)):
        values = [f"10.0.0.{node}:9" if file_id == socket else None for file_id in table["file_id"].to_pylist()]
        at = table.column_names.index(column)
        table = table.set_column(at, table.field(at), pa.array(values, pa.string()).cast(table.field(at).type))
    path.unlink()  # it is a link to that of the first node
    pq.write_table(table, path)


if __name__ == "__main__":
    case.run(check)
