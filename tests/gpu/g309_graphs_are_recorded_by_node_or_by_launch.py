# SPDX-License-Identifier: Apache-2.0
"""Work launched by a CUDA graph has the graph, the node and the launch; with --cupti-whole-graphs each launch is one
row."""

import cupti_case
from gpu_case import report
from lib import case

LAUNCHES = 60


def check_nodes(this, trace):
    calls = {row["correlation_id"]: row for row in trace.rows("gpu_api")}
    kernels, copies = trace.rows("gpu_kernel"), trace.rows("gpu_memcpy")
    this.equal("rows", [len(calls), len(kernels), len(copies), trace.rows("gpu_graph")], [LAUNCHES, 2 * LAUNCHES, LAUNCHES, []])
    this.equal("calls", {row["func"] for row in calls.values()}, {"cudaGraphLaunch"})
    this.equal("nodes", {(row["graph_id"], row["graph_node"]) for row in kernels + copies},
               {(graph, graph << 32 | node) for graph in (1, 2) for node in (1, 2, 3)})
    for row in kernels + copies:
        launch = calls[row["correlation_id"]]
        this.equal("who launched it", row["tid"], launch["tid"])


def check_whole(this, trace):
    calls = {row["correlation_id"]: row for row in trace.rows("gpu_api")}
    graphs = trace.rows("gpu_graph")
    this.equal("rows", [len(calls), len(graphs), trace.rows("gpu_kernel"), trace.rows("gpu_memcpy")], [LAUNCHES, LAUNCHES, [], []])
    this.equal("of each graph", sorted(row["graph_id"] for row in graphs), [1] * (LAUNCHES // 2) + [2] * (LAUNCHES // 2))
    device = trace.rows("gpu")[0]["gpu_id"]
    for row in graphs:
        this.equal("a launch", [row[key] for key in ("gpu_id", "context", "stream", "dur")], [device, 1, 7, 5000])
        this.true("begins in its call or later", row["ts"] >= calls[row["correlation_id"]]["ts"], row)
        this.equal("who launched it", row["tid"], calls[row["correlation_id"]]["tid"])
    work = report(this, trace)["gpu_work"]["devices"][0]
    this.equal("in the summary", [work["graphs"], work["graph_ns"], work["kernels"]], [LAUNCHES, LAUNCHES * 5000, 0])
    this.true("it keeps the GPU busy", 0 < work["busy_ns"] <= LAUNCHES * 5000, work)
    this.equal("how it was recorded", trace.run["options"]["whole_graphs"], True)


def check(this):
    for major in (12, 13):
        check_nodes(this, cupti_case.traced(this, "graph", LAUNCHES, majors=(major,), driver=major))
        check_whole(this, cupti_case.traced(this, "graph", LAUNCHES, majors=(major,), driver=major,
                                            options=["--cupti-whole-graphs"]))
    alone = this.run(case.MLRUN, "--cupti-whole-graphs", "/bin/true")
    this.equal("status without --cupti", alone.returncode, 125)
    this.true("the missing option is named", "add --cupti" in alone.stderr, alone.stderr)


if __name__ == "__main__":
    case.run(check)
