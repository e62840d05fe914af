# SPDX-License-Identifier: Apache-2.0
"""With --stacks each allocation of GPU memory has the stack of the call that made it, and the summary groups unreleased
memory by stack. Allocations made by libcudart itself have the same callers, without frames of mlrun."""

import os

import cupti_case
from gpu_case import report
from lib import case

BLOCKS = 20
NOTE = 54321  # bytes that the mock libcudart allocates on the heap in each call
LEAKED, SCRATCH, PART, PITCHED, BY_DRIVER = 4096, 8192, 1 << 20, 512 * 3, 12345
FUNCTIONS = {LEAKED: "leak_a_block", SCRATCH: "use_scratch", PART: "build_model", PITCHED: "build_model"}


def allocated(this, major, *, is_linked, options=("--stacks",), way="stacks", allocator=None):
    """libcudart is there for all to see, as of a program that is linked with it, or for those alone that need it."""
    library = cupti_case.PLACE / f"liballocator_{allocator or major}.so"
    runtime = cupti_case.PLACE / "runtime"
    environment = cupti_case.mock_environment(this, major, driver=major)
    environment["LD_LIBRARY_PATH"] += f":{runtime}"
    shared = [runtime / f"libcudart.so.{major}"] if is_linked else []
    return this.trace(cupti_case.APP, way, BLOCKS, library, *shared, options=["--cupti", "--lossless", *options],
                      env=environment)


def check_rows(this, trace):
    frames = {row["frame_id"]: row["function"] for row in trace.rows("frame")}
    stacks = {}
    for row in sorted(trace.rows("stack"), key=lambda row: row["depth"]):
        stacks.setdefault(row["stack_id"], []).append(frames[row["frame_id"]])
    rows = trace.rows("gpu_memory")
    allocations = [row for row in rows if row["operation"] == "allocation"]
    this.equal("allocations", sorted(row["bytes"] for row in allocations),
               sorted([LEAKED] * BLOCKS + [SCRATCH] * (BLOCKS + 1) + [PART] * 2 + [PITCHED, BY_DRIVER]))
    for row in allocations:
        if row["bytes"] == BY_DRIVER:
            this.equal("no stack where libcudart was not called", row["stack_id"], None)
            this.equal("CUPTI's place instead", os.path.basename(trace.names[row["site_library"]]), "cuda_app")
            continue
        this.equal("innermost function", stacks[row["stack_id"]][0], FUNCTIONS[row["bytes"]])
        in_thread = "allocate_all" not in stacks[row["stack_id"]]
        this.true("called by allocate_all and main, or in a thread",
                  in_thread or stacks[row["stack_id"]][1:4] == ["allocate_all", "allocate_in", "main"], stacks[row["stack_id"]])
    this.equal("threads", sum("allocate_all" not in stacks[row["stack_id"]] for row in allocations if row["stack_id"]), 1)
    this.equal("releases have none", {row["stack_id"] for row in rows if row["operation"] == "release"}, {None})
    gaps = [row for row in trace.rows("coverage") if row["subject"] == "stacks of GPU allocations"]
    this.equal("coverage", [(row["seen"], row["kernel"]) for row in gaps], [(2 * BLOCKS + 4, 2 * BLOCKS + 5)])


def check_summary(this, trace):
    stacks = report(this, trace)["gpu_work"]["stacks"]
    reported = sorted((row["blocks"], row["bytes"], (row["frames"] or "").split(" (")[0]) for row in stacks)
    # Three calls of build_model are three places in it.
    this.equal("never released", reported, sorted([(BLOCKS, BLOCKS * LEAKED, "leak_a_block"), (1, PART, "build_model"),
                                               (1, PART, "build_model"), (1, PITCHED, "build_model"), (1, BY_DRIVER, "")]))
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary has a part for it", "NEVER RELEASED, BY STACK" in text and "build_model" in text, text)


def check_heap(this):
    """Heap blocks allocated inside libcudart's functions, which ours interpose."""
    trace = allocated(this, 13, is_linked=True, options=("--preload=allocs", "--stacks"))
    frames = {row["frame_id"]: row for row in trace.rows("frame")}
    libraries = {os.path.basename(row["library"] or "") for row in frames.values()}
    this.equal("libraries of mlrun in stacks", [name for name in libraries if name.startswith("libmlrun")], [])
    stacks = {}
    for row in sorted(trace.rows("stack"), key=lambda row: row["depth"]):
        stacks.setdefault(row["stack_id"], []).append(frames[row["frame_id"]])
    notes = [stacks[row["stack_id"]] for row in trace.rows("alloc") if row["op"] == "malloc" and row["size"] == NOTE]
    this.equal("calls of libcudart", len(notes), BLOCKS * 3 + 4)
    for stack in notes:
        # Of libcudart's own frames a build may leave some out.
        callers = [row["function"] for row in stack if "libcudart" not in row["library"]]
        this.true("called by the program", callers[0] in (*FUNCTIONS.values(), "ask_for_too_much"), callers)


def check_without_stacks(this):
    trace = allocated(this, 13, is_linked=True, options=())
    this.equal("stacks", {row["stack_id"] for row in trace.rows("gpu_memory")}, {None})
    this.equal("groups", report(this, trace)["gpu_work"]["stacks"], [])
    this.equal("coverage", trace.rows("coverage"), [])


def check_bundled(this):
    """A libcudart under a name of its own, which a wheel has brought along: its calls reach it, with stacks and without,
    beside another libcudart that all see or alone, and it goes when the program lets it go."""
    for is_linked in (False, True):
        check_rows(this, allocated(this, 12, is_linked=is_linked, allocator="bundled"))
    for options in (("--stacks",), ()):
        trace = allocated(this, 12, is_linked=False, options=options, way="reload", allocator="bundled")
        rows = [row for row in trace.rows("gpu_memory") if row["operation"] == "allocation"]
        this.equal("allocations", len(rows), 2 * (2 * BLOCKS + 5))


def check(this):
    check_heap(this)
    check_bundled(this)
    for major in (12, 13):
        for is_linked in (False, True):
            trace = allocated(this, major, is_linked=is_linked)
            check_rows(this, trace)
            check_summary(this, trace)
    check_without_stacks(this)


if __name__ == "__main__":
    case.run(check)
