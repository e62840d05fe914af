# SPDX-License-Identifier: Apache-2.0
"""--kprobes=cuda --stacks --pid: each allocation of a running process has the stack of its call, through libraries
without frame pointers, from any thread, also if the process has exited before stacks are resolved; the summary groups
unreleased memory by stack. Without --stacks there are none."""

import os
import shutil

import uprobe_case
from gpu_case import report
from lib import case

MODEL, LEAKED, SCRATCH, HANDLE = 1 << 20, 4096, 8192, 2 << 20
FUNCTIONS = {MODEL: "build_model", HANDLE: "build_model", LEAKED: "leak_a_block", SCRATCH: "use_scratch"}
LIBRARY = uprobe_case.DRIVER.parent / "liballocating.so"
CALLS = uprobe_case.DRIVER_CALLS + """
def load_both(path):
    global program
    program = ctypes.CDLL(path)
"""


def victim(this, library=LIBRARY):
    one = uprobe_case.Victim(this, calls=CALLS)
    one.do(f"load_both({str(library)!r})")
    return one


def stacks_of(trace):
    """Frames by stack, innermost first, and why each ends."""
    frames = {row["frame_id"]: row for row in trace.rows("frame")}
    stacks, endings = {}, {}
    for row in sorted(trace.rows("stack"), key=lambda row: row["depth"]):
        stacks.setdefault(row["stack_id"], []).append(frames[row["frame_id"]])
        endings[row["stack_id"]] = row["ending"]
    return stacks, endings


def names(frames):
    return [frame["function"] for frame in frames]


def check_rows(this, trace, *, calls, threads):
    stacks, endings = stacks_of(trace)
    rows = trace.rows("gpu_memory")
    allocations = [row for row in rows if row["operation"] == "allocation"]
    this.equal("allocations", sorted(row["bytes"] for row in allocations),
               sorted([MODEL, HANDLE, LEAKED, SCRATCH] * (calls + threads)))
    in_thread = 0
    for row in allocations:
        functions = names(stacks[row["stack_id"]])
        this.equal("called by", functions[:2], [FUNCTIONS[row["bytes"]], "allocate_all"])
        this.equal("it ends at the root", endings[row["stack_id"]], "root")
        where = {os.path.basename(frame["library"]) for frame in stacks[row["stack_id"]]}
        this.true("through its libraries", {"liballocating.so", "libc.so.6"} <= where, where)
        if functions[2] == "allocate_in":
            in_thread += 1
        else:
            this.true("through Python up to the start of the program",
                      functions[-1] == "_start" and any("PyEval" in (name or "") for name in functions), functions)
    this.equal("of threads", in_thread, 4 * threads)
    this.equal("releases have none", {row["stack_id"] for row in rows if row["operation"] == "release"}, {None})
    this.equal("nothing is missing", trace.covers("stacks of GPU allocations"), [])
    # Each of the four places is reached by two ways, from main() and from a thread.
    this.equal("each way is one stack", len({row["stack_id"] for row in allocations}), 8)


def check_summary(this, trace, times):
    reported = {}
    for row in report(this, trace)["gpu_work"]["stacks"]:
        key = ((row["frames"] or "").split(" (")[0], row["bytes"] // row["blocks"])
        reported[key] = reported.get(key, 0) + row["blocks"]
    this.equal("never released", reported, {("build_model", MODEL): times, ("build_model", HANDLE): times,
                                        ("leak_a_block", LEAKED): times})
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary has a part for it", "NEVER RELEASED, BY STACK" in text and "build_model" in text, text)


def check_running(this):
    one = victim(this)
    seen = uprobe_case.Observation(this, "--stacks=100", "--pid", one.pid)
    for _ in range(3):
        this.equal("allocated", one.do("program.allocate_all()"), 0)
    for _ in range(2):
        this.equal("allocated", one.do("program.allocate_in_thread()"), 0)
    one.kill()
    trace = seen.end(asked=False)  # with the process
    uprobe_case.no_loss(this, trace)
    check_rows(this, trace, calls=3, threads=2)
    check_summary(this, trace, 5)
    this.true("the copies are not kept", not (trace.folder / "kernel.bin").exists())


def check_depth(this):
    """Deep stacks, up to the requested limit and up to that of the copied stack; with libraries that are loaded later."""
    one = uprobe_case.Victim(this, library=None, calls=CALLS)
    seen = uprobe_case.Observation(this, "--stacks=12", "--pid", one.pid)
    before = seen.probes()
    one.do(f"load_both({str(LIBRARY)!r})")
    one.do(f"load({str(uprobe_case.DRIVER)!r})")
    after = before + uprobe_case.probes_of(one)
    uprobe_case.wait_for(lambda: seen.probes() == after, 120)
    this.equal("allocated", [one.do("program.go_down(50, 100)"), one.do("program.go_down(20, 10000)"),
                             one.do("program.go_down(3, 100)")], [0, 0, 0])
    trace = seen.end()
    one.kill()
    stacks, endings = stacks_of(trace)
    rows = sorted(trace.rows("gpu_memory"), key=lambda row: row["ts"])
    deep, wide, plain = (names(stacks[row["stack_id"]]) for row in rows)
    this.equal("as deep as was asked for", deep, ["leak_a_block"] + ["go_down"] * 11)
    this.equal("as deep as the copy", set(wide[1:]), {"go_down"})
    this.true("of 32 KiB", 3 <= len(wide) <= 5, wide)
    this.equal("not so deep", plain[:5], ["leak_a_block"] + ["go_down"] * 4)
    this.equal("endings", [endings[row["stack_id"]] for row in rows], ["depth"] * 3)


def check_file_gone(this):
    """The library is gone when stacks are resolved: its frames have no names, and no names of another library."""
    copy = this.path("libpassing.so")
    shutil.copy(LIBRARY, copy)
    one = victim(this, copy)
    seen = uprobe_case.Observation(this, "--stacks", "--pid", one.pid)
    one.do("program.leak_a_block()")
    one.kill()
    shutil.copy(uprobe_case.DRIVER, this.path("other.so"))
    os.replace(this.path("other.so"), copy)
    trace = seen.end(asked=False)
    stacks, endings = stacks_of(trace)
    (row,) = [row for row in trace.rows("gpu_memory") if row["operation"] == "allocation"]
    (frame,) = stacks[row["stack_id"]]
    this.equal("no name", (frame["function"], frame["state"], endings[row["stack_id"]]),
               (None, "no file", "no unwind information"))
    this.true("the path says why", frame["library"].endswith("libpassing.so (another file)"), frame)


def check_options(this):
    one = victim(this)
    seen = uprobe_case.Observation(this, "--pid", one.pid)
    one.do("program.allocate_all()")
    trace = seen.end()
    this.equal("stacks without --stacks", {row["stack_id"] for row in trace.rows("gpu_memory")}, {None})
    this.equal("groups", report(this, trace)["gpu_work"]["stacks"], [])
    refused = this.run(case.MLRUN, "--kprobes", "--stacks", "--pid", one.pid)
    this.equal("refused without =cuda", refused.returncode, 125, said=refused.stderr)
    this.true("said", "--stacks" in refused.stderr, refused.stderr)
    one.kill()


def check(this):
    uprobe_case.need_uprobes()
    check_running(this)
    check_depth(this)
    check_file_gone(this)
    check_options(this)


if __name__ == "__main__":
    case.run(check)
