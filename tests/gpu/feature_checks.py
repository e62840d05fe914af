# SPDX-License-Identifier: Apache-2.0
"""Checks on a machine with a GPU and PyTorch, for `run`: allocations, graphs by node and as a whole, and two sessions of
torch.profiler with work between them, which mlrun records."""

import csv
import io
import json
import subprocess
import sys

BLOCKS, BLOCK_BYTES = 5, 64 << 20
REPLAYS, NODES = 100, 10
STEPS = 40
PROGRAM = """
import json, sys, time
import torch
what, steps, blocks, block_bytes, replays, nodes = sys.argv[1], *map(int, sys.argv[2:])
a = torch.zeros(1024, device="cuda")
torch.cuda.synchronize()
def work():
    for _ in range(steps):
        a.add_(1)
    torch.cuda.synchronize()
def kernels_of_session():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as told:
        work()
    return sum(event.device_type == torch.autograd.DeviceType.CUDA for event in told.events())
out = {}
if what == "memory":
    held = [torch.empty(block_bytes, dtype=torch.uint8, device="cuda") for _ in range(blocks)]
    out["addresses"] = [block.data_ptr() for block in held]
    del held
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
elif what == "graph":
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(nodes):
            a.add_(1)
    for _ in range(replays):
        graph.replay()
    torch.cuda.synchronize()
elif what == "sessions":
    out["first"] = kernels_of_session()
    time.sleep(4)
    work()
    out["second"] = kernels_of_session()
    time.sleep(4)
    work()
print(json.dumps(out))
"""


def words(what):
    return [sys.executable, "-c", PROGRAM, what, *map(str, (STEPS, BLOCKS, BLOCK_BYTES, REPLAYS, NODES))]


def traced(mlrun, folder, what, *options):
    """What the program wrote, and its trace; None: it failed."""
    trace = f"{folder}/feature-{what}{''.join(options)}"
    done = subprocess.run([mlrun, "--cupti=require", *options, "--preload=off", "--quiet", "-o", trace, "--", *words(what)],
                          capture_output=True, text=True, check=False)
    return (json.loads(done.stdout.splitlines()[-1]), trace) if done.returncode == 0 else (None, done.stderr[-2000:])


def rows(mlrun, trace, table):
    done = subprocess.run([mlrun, "show", "--csv", trace, table], capture_output=True, text=True, check=False)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def check_memory(mlrun, folder):
    out, trace = traced(mlrun, folder, "memory")
    if out is None:
        return {"reason": trace, "agrees": False}
    memory = rows(mlrun, trace, "gpu_memory")
    seen = {operation: [int(row["address"]) for row in memory if row["operation"] == operation] for operation in ("allocation", "release")}
    return {"addresses": out["addresses"], "rows": len(memory), "first": memory[:3],
            "release_tells_bytes": any(int(row["bytes"]) > 0 for row in memory if row["operation"] == "release"),
            "agrees": all(address in seen["allocation"] and address in seen["release"] for address in out["addresses"])}


def check_graphs(mlrun, folder):
    nodes, node_trace = traced(mlrun, folder, "graph")
    whole, whole_trace = traced(mlrun, folder, "graph", "--cupti-whole-graphs")
    if nodes is None or whole is None:
        return {"reason": [node_trace, whole_trace], "agrees": False}
    of_graphs = [row for row in rows(mlrun, node_trace, "gpu_kernel") if row["graph_id"]]
    launches = {row["correlation_id"] for row in rows(mlrun, node_trace, "gpu_api") if "GraphLaunch" in row["func"]}
    graphs = rows(mlrun, whole_trace, "gpu_graph")
    kept = [row for row in rows(mlrun, whole_trace, "gpu_kernel") if row["graph_id"]]
    return {"kernels": len(of_graphs), "launched": len({row["correlation_id"] for row in of_graphs} & launches),
            "whole": len(graphs), "with_thread": sum(row["tid"] != "" for row in graphs), "nodes_beside_whole": len(kept),
            "agrees": len(of_graphs) == REPLAYS * NODES and {row["correlation_id"] for row in of_graphs} == launches
                      and len(graphs) == REPLAYS and not kept}


def check_folds(mlrun, folder):
    """Nodes of graphs, added up by launch."""
    out, trace = traced(mlrun, folder, "graph", "--cupti-graph-nodes=0")
    if out is None:
        return {"reason": trace, "agrees": False}
    launches = {}
    for row in rows(mlrun, trace, "gpu_graph"):
        launches[row["correlation_id"]] = launches.get(row["correlation_id"], 0) + int(row["nodes"])
    kept = [row for row in rows(mlrun, trace, "gpu_kernel") if row["graph_id"]]
    calls = {row["correlation_id"] for row in rows(mlrun, trace, "gpu_api") if "GraphLaunch" in row["func"]}
    return {"launches": len(launches), "nodes": sorted(set(launches.values())), "nodes_beside_them": len(kept),
            "agrees": launches.keys() == calls and set(launches.values()) == {NODES} and not kept}


def check_sessions(mlrun, folder):
    plain = subprocess.run(words("sessions"), capture_output=True, text=True, check=False)
    out, trace = traced(mlrun, folder, "sessions")
    if out is None or plain.returncode != 0:
        return {"reason": [trace, plain.stderr[-2000:]], "agrees": False}
    gaps = [row for row in rows(mlrun, trace, "loss") if "another client" in row["reason"]]
    kernels = rows(mlrun, trace, "gpu_kernel")
    last = max((int(row["last"]) for row in gaps), default=0)
    after = [row for row in kernels if int(row["ts"]) > last]
    inside = [row for row in kernels if any(int(gap["first"]) < int(row["ts"]) < int(gap["last"]) for gap in gaps)]
    return {"profiler": [json.loads(plain.stdout.splitlines()[-1]), out], "gaps": gaps, "after_the_last": len(after),
            "inside": len(inside), "clocks": sorted({row["clock"] for row in kernels}),
            "agrees": json.loads(plain.stdout.splitlines()[-1]) == out and len(gaps) == 2 and len(after) == STEPS and not inside}


def feature_checks(mlrun, folder):
    return {"allocations_and_releases": check_memory(mlrun, folder), "graphs": check_graphs(mlrun, folder), "folded_graphs": check_folds(mlrun, folder),
            "between_sessions_of_torch_profiler": check_sessions(mlrun, folder)}
