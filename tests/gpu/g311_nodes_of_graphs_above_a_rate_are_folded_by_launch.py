# SPDX-License-Identifier: Apache-2.0
"""CUDA graph nodes above the rate of --cupti-graph-nodes are folded into one row per launch: each node is in one row, its own
or its launch's, never both within a launch; below the rate, nodes get their own rows again."""

import cupti_case
from gpu_case import report
from lib import case

LAUNCHES, NODES, KERNEL_NS = 1000, 1000, 1000


def grouped(rows):
    by_launch = {}
    for row in rows:
        by_launch.setdefault(row["correlation_id"], []).append(row)
    return by_launch


def check_launch(this, call, folds):
    """Its rows hold each node once."""
    this.equal("nodes of a launch", sum(row["nodes"] for row in folds), NODES)
    this.equal("their time", sum(row["busy_ns"] for row in folds), NODES * KERNEL_NS)
    for row in folds:
        this.equal("which launch", [row[key] for key in ("graph_id", "context", "stream", "tid")], [5, 1, 7, call["tid"]])
        this.true("its times", call["ts"] <= row["ts"] and KERNEL_NS <= row["dur"], (call, row))


def check_all(this, trace, launches):
    """The number of launches that have rows of their nodes."""
    calls = {row["correlation_id"]: row for row in trace.rows("gpu_api")}
    by_node, by_launch = grouped(trace.rows("gpu_kernel")), grouped(trace.rows("gpu_graph"))
    this.equal("launches", len(calls), launches)
    this.equal("each has rows", sorted(by_node.keys() | by_launch.keys()), sorted(calls))
    this.equal("either by nodes or as a whole", by_node.keys() & by_launch.keys(), set())
    for launch, rows in by_node.items():
        this.equal("nodes with rows", sorted(row["graph_node"] & 0xffffffff for row in rows), list(range(1, NODES + 1)), said=launch)
    for launch, rows in by_launch.items():
        check_launch(this, calls[launch], rows)
    work = trace.run["gpu_work"]
    this.equal("folded in run.json", [work["folds"], work["folded_nodes"]],
               [len(trace.rows("gpu_graph")), len(by_launch) * NODES])
    this.equal("lost", trace.rows("loss"), [])
    return sorted(by_node)


def traced(this, end, launches, *options):
    return cupti_case.traced(this, end, launches, options=options)


def check_rate(this):
    """A million nodes take less than a million seconds / 1000; after a pause they are slow."""
    trace = traced(this, "nodes", LAUNCHES, "--cupti-graph-nodes=1000")
    by_node = check_all(this, trace, LAUNCHES + 2)
    calls = sorted(row["correlation_id"] for row in trace.rows("gpu_api"))
    this.true("the first, and the first after the pause", by_node[0] == calls[0] and calls[-2] in by_node, (by_node, calls[-2:]))
    this.true("few have rows by node", len(by_node) < LAUNCHES // 2, by_node)
    devices = report(this, trace)["gpu_work"]["devices"]
    folded = LAUNCHES + 2 - len(by_node)
    this.equal("summary", [devices[0]["graphs"], devices[0]["kernels"]], [len(trace.rows("gpu_graph")), len(by_node) * NODES])
    this.true("it keeps the GPU busy", 0 < devices[0]["busy_ns"], devices)
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("said", f"{folded * NODES:,} nodes of graphs came faster than 1,000 a second" in text, text)


def check_always(this):
    trace = traced(this, "nodes", 4, "--cupti-graph-nodes=0")
    this.equal("none by its nodes", check_all(this, trace, 6), [])
    nccl = traced(this, "nccl", 4, "--cupti-graph-nodes=0")
    this.equal("kernels of NCCL are never folded", len(check_all(this, nccl, 6)), 6)


def check_killed(this):
    """Launches that waited for more nodes when the process was killed are in the recorded gap."""
    trace = cupti_case.traced(this, "held", 20, options=["--cupti-graph-nodes=0"], status=137)
    gap = [row["first"] for row in trace.rows("loss") if row["reason"] == "what CUPTI held when the process was killed or CUPTI did not answer at the end"]
    this.equal("gaps", len(gap), 1)
    reported = grouped(trace.rows("gpu_graph"))
    calls = sorted(trace.rows("gpu_api"), key=lambda row: row["ts"])
    for call, after_twin in zip(calls, calls[2:]):
        nodes = sum(row["nodes"] for row in reported.get(call["correlation_id"], []))
        this.true("all told, or in the gap", nodes == NODES or gap[0] <= after_twin["ts"], (call, nodes, gap))


def check_below(this):
    trace = traced(this, "nodes", 4)
    this.equal("below the rate", len(check_all(this, trace, 6)), 6)


def check_options(this):
    for options, word in ((["--cupti-graph-nodes=5"], "add --cupti"),
                          (["--cupti", "--cupti-whole-graphs", "--cupti-graph-nodes=5"], "which --cupti-whole-graphs does not record"),
                          (["--cupti", "--cupti-graph-nodes=-1"], "--cupti-graph-nodes"),
                          (["--cupti", "--cupti-graph-nodes=many"], "--cupti-graph-nodes")):
        done = this.run(case.MLRUN, *options, "/bin/true")
        this.equal(f"status with {options}", done.returncode, 125)
        this.true("why", word in done.stderr, done.stderr)


def check(this):
    check_options(this)
    check_below(this)
    check_always(this)
    check_killed(this)
    check_rate(this)


if __name__ == "__main__":
    case.run(check)
