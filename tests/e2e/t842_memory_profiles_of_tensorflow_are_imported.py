# SPDX-License-Identifier: Apache-2.0
"""memory_profile.json.gz of TensorFlow's profiler, as its versions write it: each snapshot is once in the trace, as its sizes and its allocation or release; what
else the file has is metadata. trace.json.gz beside it is Chrome's JSON with an empty event at its end."""

import gzip
import json

from lib import case
from lib.imported import imported, refused


def snapshot(ps, heap, activity, size, op, address="4096"):
    return {"timeOffsetPs": str(ps), "aggregationStats": {"stackReservedBytes": "0", "heapAllocatedBytes": str(heap), "freeMemoryBytes": str(1000 - heap), "fragmentation": 0.25},
            "activityMetadata": {"memoryActivity": activity, "requestedBytes": str(size), "address": address, "tfOpName": op, "stepId": "1", "tensorShape": "[2,3]"}}


FIRST = [snapshot(1_500, 100, "ALLOCATION", 100, "conv/Conv2D"), snapshot(2_000_000, 0, "DEALLOCATION", 100, "conv/Conv2D"), {"aggregationStats": {}}]
LATER = [FIRST[0], snapshot(3_000_400, 50, "ALLOCATION", 50, "dense/MatMul", "8192")]


def profile(allocators):
    return {"memoryProfilePerAllocator": allocators, "numHosts": 1, "memoryIds": list(allocators)}


def check_snapshots(this):
    content = profile({"GPU_0_bfc": {"memoryProfileSnapshots": FIRST, "profileSummary": {"peakBytesUsageLifetime": "100"}, "activeAllocations": [{"snapshotIndex": "0"}],
                                     "sampledTimelineSnapshots": LATER}, "mklcpu": {"memoryProfileSnapshots": [], "sampledTimelineSnapshots": LATER[1:]}})
    path = this.path("host.memory_profile.json.gz")
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    trace = imported(this, path)
    this.equal("snapshots", trace.events(), 6)
    this.equal("left out", trace.left_out(), {"a snapshot without a time": 1, "a snapshot that the file has twice": 1})
    rows = trace.rows("counter", "ts, name, value", "WHERE series = 'heapAllocatedBytes' ORDER BY ALL")
    this.equal("sizes", rows, [(2, "memory GPU_0_bfc", 100.0), (2000, "memory GPU_0_bfc", 0.0), (3000, "memory GPU_0_bfc", 50.0), (3000, "memory mklcpu", 50.0)])
    this.equal("each of four sizes", trace.count("counter"), 16)
    rows = trace.rows("import_event", "ts, name, category, args", "WHERE kind = 'memory' ORDER BY ts, category")
    this.equal("operations", [(ts, name, category, json.loads(args)["memoryActivity"]) for ts, name, category, args in rows],
               [(2, "conv/Conv2D", "GPU_0_bfc", "ALLOCATION"), (2000, "conv/Conv2D", "GPU_0_bfc", "DEALLOCATION"), (3000, "dense/MatMul", "GPU_0_bfc", "ALLOCATION"),
                (3000, "dense/MatMul", "mklcpu", "ALLOCATION")])
    metadata = trace.files[0]["metadata"]
    this.equal("the rest", (metadata["numHosts"], metadata["memoryProfilePerAllocator"]["GPU_0_bfc"]),
               (1, {"profileSummary": {"peakBytesUsageLifetime": "100"}, "activeAllocations": [{"snapshotIndex": "0"}]}))


def check_odd(this):
    path = this.path("odd.json")
    path.write_text('{ "memoryProfilePerAllocator": {"a": 5, "a": {"x": 1, "memoryProfileSnapshots": [3, {"timeOffsetPs": 1}, {"timeOffsetPs": "1", "activityMetadata": {}}]}, '
                    '"b": null}, "memoryProfilePerAllocator": 7, "version": 1}')
    this.equal("left out of what is odd", imported(this, path).left_out(), {"a snapshot without a time": 1, "a snapshot without sizes and operation": 2})
    path.write_text('{"memoryProfilePerAllocator": {"a": {"memoryProfileSnapshots": [' + json.dumps(FIRST[0]) + ", {\"timeOff")
    this.equal("left out where the file ends", imported(this, path).left_out(), {"the last snapshot: the file ends within it": 1})
    path.write_text('{"memoryProfilePerAllocator": 1 2}')
    refused(this, path, "byte")


def check_trace(this):
    """As the plug-in writes it beside."""
    events = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}}, {"ph": "M", "pid": 1, "name": "process_sort_index", "args": {"sort_index": 1}},
              {"ph": "M", "pid": 1, "tid": 14, "name": "thread_name", "args": {"name": "Stream #14(Compute)"}},
              {"ph": "X", "pid": 1, "tid": 14, "ts": 30523.25, "dur": 1.5, "name": "sgemm", "args": {"kernel_details": "regs:32 grid:1,1,1", "correlation_id": "7"}}, {}]
    path = this.path("host.trace.json.gz")
    path.write_bytes(gzip.compress(json.dumps({"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events}).encode()))
    trace = imported(this, path)
    this.equal("left out of trace.json.gz", trace.left_out(), {"an empty object": 1})
    this.equal("slices", trace.rows("slice", "name, ts, dur"), [("sgemm", 30523250, 1500)])
    this.equal("names", trace.rows("thread", "comm"), [("Stream #14(Compute)",)])


def check(this):
    check_snapshots(this)
    check_odd(this)
    check_trace(this)


if __name__ == "__main__":
    case.run(check)
