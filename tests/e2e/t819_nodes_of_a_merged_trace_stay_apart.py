# SPDX-License-Identifier: Apache-2.0
"""Two nodes with the same pids, GPUs, disks and processors, merged: every format has each row once, at its time, and on a track of its own node.
Text files of one machine are refused."""

import json
import sqlite3
from collections import Counter

from lib import case, made_trace, nodes, perfetto_file
from lib.exported import every_row_is_told_of, export, rows_of
from lib.otf2_check import read_archive

TABLES = ("call", "gpu_kernel", "block", "block_part", "sample_gpu", "sample_cpu", "python_stack")


def merged(this):
    folder, _, t = made_trace.make(this)
    made_trace.write(folder, "sample_cpu", [{"ts": t + at, "dur": 100, "cpu": 0, "user_ns": at} for at in (0, 100)])
    other = nodes.copy_of(folder, this.path("other"))
    for number, path in enumerate((folder, other)):
        nodes.edit_run(path, lambda run, number=number: run.update(session=f"s{number}", host=run["host"] | {"boot_id": f"b{number}", "name": f"node{number}"}))
    out = this.path("merged")
    nodes.merge(this, folder, other, out=out, options=["--offset", "-3s"])
    return this.opened(out)


def prefixes(names):
    return Counter(name.split(":")[0] for name in names)


def check_perfetto(this, trace):
    out, printed = export(this, trace, "perfetto", "nodes.pftrace")
    every_row_is_told_of(this, trace, printed)
    file = perfetto_file.read(out)
    this.equal("faults", file.faults, [])
    for table in ("call", "gpu_kernel", "block", "block_part"):
        rows = Counter((row["ts"], row["ts"] + row["dur"]) for row in rows_of(trace, table))
        this.equal(f"slices of {table}", Counter((one.ts, one.end) for one in file.slices if one.table == table), rows)
        count = len(rows_of(trace, table)) // 2
        this.equal(f"nodes of {table}", prefixes(file.path(one.track)[0] for one in file.slices if one.table == table), {"node0": count, "node1": count})
    pids = [one.process.pid for one in file.tracks.values() if one.HasField("process")]
    this.equal("pids of their own", (len(pids), len(set(pids))), (4, 4))
    this.equal("threads of stacks", len(file.sample_threads), 2)
    this.equal("counters", prefixes(path[0] for path, _, _ in file.counters if path[-1] in ("sm_percent", "user_ns")), {"node0": 5, "node1": 5})
    arrows = Counter(flow for one in file.slices for flow in (*one.flows_out, *one.flows_in))
    this.equal("arrows have two ends", set(arrows.values()), {2})


def check_chrome(this, trace):
    out, printed = export(this, trace, "chrome", "nodes.json")
    every_row_is_told_of(this, trace, printed)
    exported = json.loads(out.read_bytes())
    base = exported["baseTimeNanoseconds"] - trace.run["clock"]["realtime_offset_start_ns"]
    calls = [event for event in exported["traceEvents"] if event.get("cat") == "call" and event["ph"] in "Xb"]
    this.equal("calls", Counter(round(event["ts"] * 1000) + base for event in calls), Counter(row["ts"] for row in rows_of(trace, "call")))
    this.true("no time before the base", min(event.get("ts", 0) for event in exported["traceEvents"]) >= 0)
    names = {event["pid"]: event["args"]["name"].split(":")[0] for event in exported["traceEvents"] if event.get("name") == "process_name"}
    this.equal("nodes", Counter(names[event["pid"]] for event in calls), {"node0": len(calls) // 2, "node1": len(calls) // 2})


def check_otf2(this, trace):
    out, printed = export(this, trace, "otf2", "nodes.otf2")
    every_row_is_told_of(this, trace, printed)
    archive = read_archive(out)
    this.equal("what is wrong with the archive", archive.wrong, [])
    this.equal("times", Counter(time for _, time, region, _ in archive.entered if region.description == "call"), Counter(row["ts"] for row in rows_of(trace, "call")))
    locations = [sorted(name for name in archive.nodes[node] if not name.startswith("sample_gpu")) for node in ("node0", "node1")]  # a GPU has a number of the trace
    this.equal("nodes have the same locations", *locations)
    this.equal("metrics of processors", archive.metrics["sample_cpu"], len(rows_of(trace, "sample_cpu")))


def check(this):
    this.mlrun = case.MLRUN
    trace = merged(this)
    for table in TABLES:
        this.equal(f"nodes of {table}", {row["node_id"] for row in rows_of(trace, table)}, {1, 2})
    check_perfetto(this, trace)
    check_chrome(this, trace)
    check_otf2(this, trace)
    out, printed = export(this, trace, "sqlite", "nodes.sqlite")
    every_row_is_told_of(this, trace, printed)
    this.equal("rows of each node", sqlite3.connect(out).execute("SELECT node_id, count(*) FROM call GROUP BY 1").fetchall(), [(1, 10), (2, 10)])
    for form in ("pprof", "fio"):
        _, printed = export(this, trace, form, f"nodes.{form}")
        every_row_is_told_of(this, trace, printed)
    done = this.run(case.MLRUN, "export", trace.folder, "--to", "mlperf-traces", "-o", "nodes.texts")
    this.equal("refused", (done.returncode, done.stderr.count("\n"), "of 2 nodes" in done.stderr), (125, 1, True), said=done.stderr)
    this.equal("nothing is left", [path.name for path in this.folder.iterdir() if path.name.startswith("nodes.texts")], [])


if __name__ == "__main__":
    case.run(check)
