# SPDX-License-Identifier: Apache-2.0
"""With libc's malloc, jemalloc, tcmalloc (also with memory by mmap alone) and mimalloc, linked and preloaded: `usable`
of each block, at allocation and at free, is what the allocator itself returns, and the heap peak is their sum."""

from lib import allocators, case

SMALL_CHANGE = 300_000  # what libraries allocate beside the program's blocks, usable


def expect_sizes(this, program, **more):
    said = this.path("sizes")
    trace = this.trace(program, said, options=("--lossless", "--alloc-min", "0"), **more)
    lines = [line.split() for line in said.read_text().splitlines()]
    sizes = {int(address, 16): int(size) for address, size in lines}
    live, at_peak, frees = {}, {}, {}
    for row in sorted(trace.rows("alloc"), key=lambda row: row["ts"]):
        if row["op"] == "free":
            frees[row["addr"]] = row["usable"]
            live.pop(row["addr"], None)
            continue
        live.pop(row["old_addr"], None)
        live[row["addr"]] = row["usable"]
        if len(live) > len(at_peak):
            at_peak = dict(live)
    this.equal("blocks whose size differs", {a: (at_peak.get(a), size) for a, size in sizes.items() if at_peak.get(a) != size}, {})
    this.equal("frees whose size differs", {a: (frees.get(a), size) for a, size in sizes.items() if frees.get(a) != size}, {})
    [process] = trace.rows("summary_process")
    total, peak = sum(sizes.values()), process["heap_peak_recorded"] + process["heap_peak_counted"]
    this.true("the peak of the heap is their sum", total <= peak <= total + SMALL_CHANGE, (total, peak))
    return trace


def check(this):
    expect_sizes(this, this.victim("asks_sizes"))
    only_mmap = {"TCMALLOC_SKIP_SBRK": "1"}
    for name, _ in allocators.victims(this, "shared"):
        linked = this.victim(f"asks_sizes_{name}")
        preload = {"LD_PRELOAD": allocators.library_of(this, name, linked)}
        for program, environment in ((linked, {}), (this.victim("asks_sizes"), preload)):
            trace = expect_sizes(this, program, env=this.environment | environment)
            this.true(f"{name} is named", any(name in (image["allocator"] or "") for image in trace.rows("image")))
            if name == "tcmalloc":
                expect_sizes(this, program, env=this.environment | environment | only_mmap)


if __name__ == "__main__":
    case.run(check)
