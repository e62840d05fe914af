# SPDX-License-Identifier: Apache-2.0
"""--kprobes=cuda --pid: each allocation and release of a running process is a row with its size and address; failed
calls and calls that the driver makes itself are not allocations; waits and graph launches are calls."""

from collections import Counter

import uprobe_case
from gpu_case import report
from lib import case

PITCH, HANDLE_BYTES = 512, 2 << 20


def work(one):
    """(operation, function, bytes, address) as they must be in the table."""
    wanted = []

    def gives(function, size, call):
        address = one.do(call)
        wanted.append(("allocation", function, size, address))
        return address

    def takes(function, size, address, call):
        if one.do(call.format(address)) != 0:
            raise AssertionError(call)
        wanted.append(("release", function, size, address))

    first = gives("cuMemAlloc_v2", 4096, "alloc(4096)")
    second = gives("cuMemAlloc_v2", 1 << 32, "alloc(1 << 32)")
    one.do(f"alloc({1 << 60})")
    one.do("free(12345)")
    one.do("free(0)")
    takes("cuMemFree_v2", 4096, first, "free({})")
    again = gives("cuMemAllocManaged", 8192, "given('cuMemAllocManaged', c_size_t(8192), 1)")
    if again != first:
        raise AssertionError("the address is not used again")
    gives("cuMemAllocPitch_v2", 100 * PITCH, "given('cuMemAllocPitch_v2', byref(c_size_t()), c_size_t(10), c_size_t(100), 4)")
    for form in ("", "_ptsz"):
        async_ = gives(f"cuMemAllocAsync{form}", 300, f"given('cuMemAllocAsync{form}', c_size_t(300), c_void_p(7))")
        takes(f"cuMemFreeAsync{form}", 300, async_, "cuda.cuMemFreeAsync" + form + "(c_uint64({}), c_void_p(7))")
    pinned = gives("cuMemAllocHost_v2", 555, "given('cuMemAllocHost_v2', c_size_t(555))")
    takes("cuMemFreeHost", 555, pinned, "cuda.cuMemFreeHost(c_void_p({}))")
    handle = gives("cuMemCreate", HANDLE_BYTES, f"given('cuMemCreate', c_size_t({HANDLE_BYTES}), b'x' * 32, c_uint64(0))")
    map_it = f"cuda.cuMemMap(c_uint64(1 << 40), c_size_t({HANDLE_BYTES}), c_size_t(0), c_uint64({handle}), c_uint64(0))"
    if one.do(map_it) or one.do(f"cuda.cuMemRelease(c_uint64({handle}))"):
        raise AssertionError("the mock refused")
    takes("cuMemUnmap", HANDLE_BYTES, handle, f"cuda.cuMemUnmap(c_uint64(1 << 40), c_size_t({HANDLE_BYTES})) + 0 * {{}}")
    for call in ("cuStreamSynchronize(c_void_p(1))", "cuEventSynchronize(c_void_p(2))", "cuEventSynchronize(None)",
                 "cuCtxSynchronize()", "cuGraphLaunch(c_void_p(3), c_void_p(4))"):
        one.do("cuda." + call)
    takes("cuMemFree_v2", 1 << 32, second, "free({})")
    return wanted


def check_calls(this, trace, one):
    calls = Counter((row["func"], row["result"]) for row in trace.rows("gpu_api"))
    failed = {key: count for key, count in calls.items() if key[1] != 0}
    this.equal("what failed", failed, {("cuMemAlloc_v2", uprobe_case.OUT_OF_MEMORY): 1, ("cuMemFree_v2", 1): 1,
                                       ("cuEventSynchronize", 1): 1})
    this.true("the driver's own call is none", not any(func == "cuMemHostAlloc" for func, _ in calls), calls)
    this.equal("launches of graphs", calls[("cuGraphLaunch", 0)], 1)
    this.equal("waits", Counter(row["kind"] for row in trace.rows("gpu_sync")),
               Counter(("stream synchronize", "event synchronize", "context synchronize")))
    for table in ("gpu_api", "gpu_memory", "gpu_sync"):
        for row in trace.rows(table):
            this.equal(f"{table}: where it is from", (row["source"], row["pid"], row["tid"], row["dur"] > 0),
                       ("uprobe", one.pid, one.pid, True))


def check(this):
    uprobe_case.need_uprobes()
    with uprobe_case.victim(this) as one:
        before = one.do("alloc(1000)")
        seen = uprobe_case.Observation(this, "--pid", one.pid)
        wanted = work(one)
        one.do(f"free({before})")
        wanted.append(("release", "cuMemFree_v2", 0, before))
        trace = seen.end()
    this.equal("rows", uprobe_case.memory_rows(trace, one.pid), wanted)
    uprobe_case.no_loss(this, trace)
    check_calls(this, trace, one)
    kinds = {row["func"]: (row["memory"], row["async"], row["is_handle"]) for row in trace.rows("gpu_memory")}
    this.equal("kinds of memory", {name: kinds[name] for name in
                                   ("cuMemAllocManaged", "cuMemAllocAsync", "cuMemFreeHost", "cuMemUnmap")},
               {"cuMemAllocManaged": ("managed", False, False), "cuMemAllocAsync": ("device", True, False),
                "cuMemFreeHost": ("pinned", False, False), "cuMemUnmap": ("device", False, True)})
    memory = {row["memory"]: row for row in report(this, trace)["gpu_work"]["memory"]}
    this.equal("still held", {kind: (row["kept"], row["kept_bytes"], row["at_exit"]) for kind, row in memory.items()},
               {"device": (1, 100 * PITCH, 0), "managed": (1, 8192, 0), "pinned": (0, 0, 0)})
    this.equal("of before", memory["device"]["unmatched_releases"], 1)
    this.true("said", trace.covers("GPU memory allocated before the probes were attached")
              and trace.covers("CUDA work that the probes of libcuda do not cover"))
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary has a part for it", "GPU MEMORY" in text, text)


if __name__ == "__main__":
    case.run(check)
