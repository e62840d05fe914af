# SPDX-License-Identifier: Apache-2.0
"""GPU memory that a process does not release is separate from what was released with its context and from what it held
when it ended or was killed; each context is counted by itself."""

import uprobe_case
from gpu_case import report
from lib import case


def sums(this, trace, pid):
    """Of a process, by context."""
    proc_id = next(row["proc_id"] for row in trace.rows("process") if row["pid"] == pid)
    return {row["context"]: row for row in report(this, trace)["gpu_work"]["memory"] if row["proc_id"] == proc_id}


def picked(row, *names):
    return [row[name] for name in names]


def use_contexts(this, one):
    """The first context is destroyed with 2 of its 3 blocks, the primary one is released, the third one stays."""
    first = one.do("given('cuCtxCreate_v2', 0, 0)")
    blocks = [one.do(f"alloc({size})") for size in (100, 200, 300)]
    one.do(f"free({blocks[0]})")
    primary = one.do("given('cuDevicePrimaryCtxRetain', 0)")
    this.equal("retained twice", one.do("given('cuDevicePrimaryCtxRetain', 0)"), primary)
    one.do(f"cuda.cuCtxPushCurrent_v2(c_void_p({primary}))")
    one.do("alloc(4000)")
    one.do("cuda.cuCtxPopCurrent_v2(byref(c_void_p()))")
    one.do(f"cuda.cuCtxDestroy_v2(c_void_p({first}))")
    one.do("cuda.cuDevicePrimaryCtxRelease_v2(0)")
    third = one.do("given('cuCtxCreate_v2', 0, 0)")
    kept = one.do("alloc(50000)")
    one.do(f"cuda.cuCtxSetCurrent(c_void_p({third}))")
    one.do("alloc(600000)")
    one.do(f"free({kept})")
    return blocks


def check(this):
    uprobe_case.need_uprobes()
    with uprobe_case.victim(this) as lives, uprobe_case.victim(this) as ends, uprobe_case.victim(this) as killed:
        pids = ",".join(str(one.pid) for one in (lives, ends, killed))
        seen = uprobe_case.Observation(this, "--pid", pids)
        blocks = use_contexts(this, lives)
        ends.do("alloc(7000)")
        ends.end()
        killed.do("alloc(11000)")
        killed.do(f"free({killed.do('alloc(13000)')})")
        killed.kill()
        trace = seen.end()
    names = ("allocations", "releases", "with_context", "with_context_bytes", "kept", "kept_bytes", "at_exit", "at_exit_bytes")
    of_contexts = sums(this, trace, lives.pid)
    this.equal("by context", {number: picked(row, *names) for number, row in of_contexts.items()},
               {1: [3, 3, 2, 500, 0, 0, 0, 0],
                # It loaded the library before mlrun attached: whether that was the last user of the primary context is unknown.
                2: [1, 0, 0, 0, 1, 4000, 0, 0],
                3: [2, 1, 0, 0, 1, 600000, 0, 0]})
    this.equal("at once", picked(of_contexts[1], "peak_bytes"), [600])
    with_context = [row for row in trace.rows("gpu_memory") if row["func"] == "cuCtxDestroy_v2"]
    this.equal("rows of the context's end", {(row["address"], row["bytes"], row["operation"]) for row in with_context},
               {(blocks[1], 200, "release"), (blocks[2], 300, "release")})
    for one, size in ((ends, 7000), (killed, 11000)):
        row = sums(this, trace, one.pid)[None]
        this.equal("held at the end", picked(row, "kept", "kept_bytes", "at_exit", "at_exit_bytes"), [1, size, 1, size])
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary tells them apart", "released with their context" in text and "have ended" in text, text)

    with uprobe_case.victim(this, library=None) as one:  # all of its contexts are seen
        seen = uprobe_case.Observation(this, "--pid", one.pid)
        uprobe_case.load_and_wait(seen, one, uprobe_case.DRIVER)
        one.do("cuda.cuInit(0)")
        primary = one.do("given('cuDevicePrimaryCtxRetain', 0)")
        one.do(f"cuda.cuCtxSetCurrent(c_void_p({primary}))")
        one.do("alloc(4000)")
        one.do("cuda.cuDevicePrimaryCtxRelease_v2(0)")
        trace = seen.end()
    row = sums(this, trace, one.pid)[1]
    this.equal("released with the primary context", picked(row, "with_context", "with_context_bytes", "kept"), [1, 4000, 0])


if __name__ == "__main__":
    case.run(check)
