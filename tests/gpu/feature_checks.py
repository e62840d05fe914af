# SPDX-License-Identifier: Apache-2.0
"""Checks on a machine with a GPU and PyTorch, for `run`: allocations (of expandable segments too), graphs by node and as a
whole, two sessions of torch.profiler with work between them, which mlrun records, a DataLoader's workers, which libcupti is
in the process, host buffers of copies, PyTorch's static probes, and what cuFile does in its compatibility mode."""

import collections
import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

from checking import ANOTHER, SLACK_NS, last_line, ran, real_losses, rows, spoilt, within

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
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as session:
        work()
    return sum(event.device_type == torch.autograd.DeviceType.CUDA for event in session.events())
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
    out["between"] = []
    for name in ("first", "second"):
        out[name] = kernels_of_session()
        time.sleep(4)
        begin = time.monotonic_ns()
        work()
        out["between"].append([begin, time.monotonic_ns()])
elif what == "loader":
    from torch.utils.data import DataLoader
    for _ in DataLoader(list(range(steps)), num_workers=2):
        a.add_(1)
    torch.cuda.synchronize()
elif what == "copies":
    kept, out["buffers"] = [], []
    for bytes, is_pinned in ((100, False), (4096, True), (65536, False), (3 << 20, True), (3 << 20, False)):
        host = torch.ones(bytes, dtype=torch.uint8)
        host = host.pin_memory() if is_pinned else host
        device = torch.empty(bytes, dtype=torch.uint8, device="cuda")
        kept += [host, device]
        begin = time.monotonic_ns()
        for _ in range(steps):
            device.copy_(host, non_blocking=True)
        torch.cuda.synchronize()
        end = time.monotonic_ns()
        for _ in range(steps // 2):
            host.copy_(device)
        out["buffers"].append({"address": host.data_ptr(), "bytes": bytes, "pinned": is_pinned, "ns": (end - begin) // steps})
out["libcupti"] = sorted({line.split()[-1] for line in open("/proc/self/maps") if "libcupti" in line.split()[-1]})
print(json.dumps(out))
"""


# Reads a file of a mebibyte to the GPU, twice in pieces and once as a whole; what cuFile says of each.
CUFILE = """
import ctypes, json, os, sys
from ctypes import byref, c_int, c_longlong, c_size_t, c_ssize_t, c_uint64, c_void_p
class Descriptor(ctypes.Structure):
    _fields_ = [("type", c_int), ("fd", c_uint64), ("operations", c_void_p)]
class Error(ctypes.Structure):
    _fields_ = [("err", c_int), ("cu_err", c_int)]
cuda, cufile = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(sys.argv[1])
for name in ("cuFileDriverOpen", "cuFileHandleRegister"):
    getattr(cufile, name).restype = Error
cufile.cuFileRead.restype = c_ssize_t
context, memory, handle, device = c_void_p(), c_void_p(), c_void_p(), c_int()
def ok(answer):
    assert answer == 0, answer
ok(cuda.cuInit(0)); ok(cuda.cuDeviceGet(byref(device), 0))
ok(cuda.cuDevicePrimaryCtxRetain(byref(context), device)); ok(cuda.cuCtxSetCurrent(context))
ok(cuda.cuMemAlloc_v2(byref(memory), c_size_t(1 << 20)))
opened = cufile.cuFileDriverOpen()
fd = os.open(sys.argv[2], os.O_RDONLY | os.O_DIRECT)
registered = cufile.cuFileHandleRegister(byref(handle), byref(Descriptor(1, fd, None)))
read = [cufile.cuFileRead(handle, memory, c_size_t(size), c_longlong(at), c_longlong(0))
        for size, at in ((65536, 0), (131072, 65536), (1 << 20, 0))] if registered.err == 0 else []
print(json.dumps({"opened": opened.err, "registered": registered.err, "read": read}))
"""


def words(what):
    return [sys.executable, "-c", PROGRAM, what, *map(str, (STEPS, BLOCKS, BLOCK_BYTES, REPLAYS, NODES))]


def traced(mlrun, folder, what, *options, environment=None):
    """The program's output and its trace; None if it failed, with the reason."""
    trace = f"{folder}/feature-{what}{''.join(options)}{'-changed' if environment else ''}"
    out, said = last_line(ran([mlrun, "--cupti=require", *options, "--preload=off", "--sample=off", "--quiet", "-o", trace, "--", *words(what)],
                              environment))
    return (out, trace) if out is not None else (None, said)


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
    of_nodes = collections.Counter((row["graph_id"], row["graph_node"]) for row in of_graphs)
    graphs = rows(mlrun, whole_trace, "gpu_graph")
    kept = [row for row in rows(mlrun, whole_trace, "gpu_kernel") if row["graph_id"]]
    return {"kernels": len(of_graphs), "launched": len({row["correlation_id"] for row in of_graphs} & launches),
            "nodes_of_graphs": [[*node, times] for node, times in of_nodes.items()][:2 * NODES],
            "whole": len(graphs), "with_thread": sum(row["tid"] != "" for row in graphs), "nodes_beside_whole": len(kept),
            "agrees": len(of_nodes) == NODES and set(of_nodes.values()) == {REPLAYS}
                      and len({graph for graph, _ in of_nodes}) == 1 and {row["correlation_id"] for row in of_graphs} == launches
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


def sessions(gaps, out, untraced, kernels):
    """Two gaps: each kernel launched after a session is there, and none within a gap."""
    inside = [row for row in kernels if any(int(gap["first"]) < int(row["ts"]) < int(gap["last"]) for gap in gaps)]
    between = [len(within(kernels, times, SLACK_NS)) for times in out["between"]]
    same = all(untraced[key] == out[key] == STEPS for key in ("first", "second"))
    missing, wrong = [STEPS - count for count in between], spoilt(kernels, 2)
    return {"profiler": [untraced, out], "gaps": gaps, "after_each": between, "inside": len(inside),
            "clocks": sorted({row["clock"] for row in kernels}), "spoilt": wrong,
            "agrees": same and len(gaps) == 2 and min(missing) >= 0 and sum(missing) <= wrong and not inside}


def check_sessions(mlrun, folder):
    untraced, said = last_line(ran(words("sessions")))
    out, trace = traced(mlrun, folder, "sessions")
    if out is None or untraced is None:
        return {"reason": [trace, said], "agrees": False}
    gaps = [row for row in rows(mlrun, trace, "loss") if row["reason"] == ANOTHER]
    return sessions(gaps, out, untraced, rows(mlrun, trace, "gpu_kernel"))


def check_loader(mlrun, folder):
    """Workers are forked from a process that uses CUDA; the trace has all of its launches between their batches."""
    out, trace = traced(mlrun, folder, "loader")
    if out is None:
        return {"reason": trace, "agrees": False}
    kernels = rows(mlrun, trace, "gpu_kernel")
    most = max(collections.Counter(row["name"] for row in kernels).values(), default=0)
    losses, processes = rows(mlrun, trace, "loss"), {row["pid"] for row in kernels}
    return {"steps": STEPS, "kernels_of_a_name": most, "processes": len(processes), "losses": losses,
            "agrees": most == STEPS and len(processes) == 1 and not real_losses(losses)}


def check_libraries(mlrun, folder):
    """The process has one libcupti, the one that mlrun uses, with mlrun and without."""
    untraced, said = last_line(ran(words("none")))
    out, trace = traced(mlrun, folder, "none")
    if out is None or untraced is None:
        return {"reason": [trace, said], "agrees": False}
    used = json.loads(Path(trace, "run.json").read_text())["gpu_work"]["libraries"]
    return {"untraced": untraced["libcupti"], "traced": out["libcupti"], "used": used,
            "agrees": [os.path.realpath(at["file"]) for at in used] == [os.path.realpath(at) for at in out["libcupti"]]}


def copied(buffers, copies):
    """All bytes of each buffer have its address and its kind of memory on the host, and no copy is without an address. CUPTI may report a copy
    in parts. Where the pages are is the machine's matter."""
    ours, wanted = collections.Counter(), collections.Counter()
    for row in copies:
        host = row["source"] if row["kind"] == "HtoD" else row["target"]
        ours[row["host_address"], row["kind"], host] += int(row["bytes"])
    for buffer in buffers:
        memory = "pinned" if buffer["pinned"] else "pageable"
        for kind, times in (("HtoD", STEPS), ("DtoH", STEPS // 2)):
            wanted[str(buffer["address"]), kind, memory] += buffer["bytes"] * times
    without = sum(row["host_address"] == "" for row in copies)
    return {"copies": len(copies), "without_address": without, "wrong": [[*key, bytes_] for key, bytes_ in (ours - wanted).items()][:5],
            "missing": [[*key, bytes_] for key, bytes_ in (wanted - ours).items()][:5],
            "agrees": bool(copies) and not without and ours == wanted}


def check_copies(mlrun, folder):
    untraced, said = last_line(ran(words("copies")))
    out, trace = traced(mlrun, folder, "copies")
    if out is None or untraced is None:
        return {"reason": [trace, said], "agrees": False}
    copies = [row for row in rows(mlrun, trace, "gpu_memcpy") if row["kind"] in ("HtoD", "DtoH")]
    reported = json.loads(ran([mlrun, "report", "--json", trace]).stdout)["gpu_work"]["host_buffers"]
    return copied(out["buffers"], copies) | {
        "gpus": rows(mlrun, trace, "gpu"), "nodes": collections.Counter(row["host_node"] for row in copies),
        "misplaced": sorted({row["misplaced_bytes"] for row in copies}), "summary": reported,
        "ns_of_a_copy": {name: [at["ns"] for at in run["buffers"]] for name, run in (("untraced", untraced), ("traced", out))}}


def check_near_gpu(mlrun, folder):
    """Pageable buffers under `near gpu 0` are on that GPU's node. mlrun refuses where /sys has no GPU, or several nodes and not which is near."""
    out, trace = traced(mlrun, folder, "copies", "--place", "size >= 1M -> near gpu 0")
    if out is None:
        return {"reason": trace, "agrees": None if "'size >= 1M -> near gpu 0': " in trace else False}
    wanted = {str(at["address"]) for at in out["buffers"] if not at["pinned"] and at["bytes"] >= 1 << 20}
    found = [row for row in rows(mlrun, trace, "gpu_memcpy") if row["host_address"] in wanted]
    pages = rows(mlrun, trace, "page_node")
    return {"copies": len(found), "nodes": collections.Counter(row["host_node"] for row in found), "pages": pages[:10],
            "placement": json.loads(Path(trace, "run.json").read_text()).get("placement"),
            "agrees": bool(found) and bool(pages) and len({row["host_node"] for row in found}) == 1}


def check_expandable(mlrun, folder):
    """What the trace has of PyTorch's expandable segments, which are mapped step by step."""
    out, trace = traced(mlrun, folder, "memory",
                        environment=dict(os.environ) | {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
    if out is None:
        return {"reason": trace, "agrees": False}
    memory = rows(mlrun, trace, "gpu_memory")
    calls = collections.Counter(row["func"] for row in rows(mlrun, trace, "gpu_api") if "Mem" in row["func"])
    return {"calls": calls, "rows": len(memory), "first": memory[:3], "agrees": None}


def static_probes(library):
    """Provider and name of each note of a static probe (SDT) in an ELF file."""
    data, found, at = Path(library).read_bytes(), set(), 0
    while (at := data.find(b"stapsdt\0", at)) >= 0:
        at += 8
        provider, name, *_ = data[at + 24:at + 24 + 512].split(b"\0")
        if provider.isascii() and name.isascii() and provider:
            found.add(f"{provider.decode()}:{name.decode()}")
    return sorted(found)


def check_probes():
    package = importlib.util.find_spec("torch")
    library = Path(package.origin).parent / "lib" / "libc10_cuda.so" if package else None
    if not library or not library.exists():
        return {"reason": "PyTorch has no libc10_cuda.so", "agrees": None}
    return {"probes": static_probes(library), "agrees": None}


def find_cufile():
    places = [Path(at) / "nvidia" for at in sys.path if at] + [Path("/usr/local/cuda")]
    found = (at for place in places if place.is_dir() for at in place.rglob("libcufile.so*"))
    return next(found, None)


def check_cufile(mlrun, folder):
    """Each byte that libcufile reads by its own calls is in the file's calls, and they are marked as such."""
    library = find_cufile()
    if not library:
        return {"reason": "no libcufile here", "agrees": None}
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(bytes(1 << 20))
        file.flush()
        os.sync()
        trace = f"{folder}/feature-cufile"
        said, error = last_line(ran([mlrun, "--preload", "--lossless", "--quiet", "-o", trace, "--", sys.executable, "-c",
                                     CUFILE, library, file.name]))
        if said is None:
            return {"reason": error, "agrees": None}
    calls = [row for row in rows(mlrun, trace, "call") if row["path"] == file.name]
    by_name = collections.Counter(row["func"] for row in calls)
    moved = sum(int(row["ret"]) for row in calls if "read" in row["func"] and int(row["ret"]) > 0)
    # Where libcufile does not read at all (no driver for it, and no compatibility mode), nothing is compared.
    read = sum(size for size in said["read"] if size > 0)
    return {"cufile": said, "calls": by_name, "bytes_of_calls": moved, "agrees": moved == read if read else None}


def feature_checks(mlrun, folder):
    """Checks for checking.Report."""
    of_traces = {"allocations_and_releases": check_memory, "graphs": check_graphs, "folded_graphs": check_folds,
                 "between_sessions_of_torch_profiler": check_sessions, "workers_of_a_loader": check_loader,
                 "libcupti_in_the_process": check_libraries, "host_buffers_of_copies": check_copies,
                 "buffers_near_the_gpu": check_near_gpu, "expandable_segments": check_expandable,
                 "cufile_in_compatibility_mode": check_cufile}
    return [*((name, lambda check=check: check(mlrun, folder)) for name, check in of_traces.items()),
            ("static_probes_of_pytorch", check_probes)]
