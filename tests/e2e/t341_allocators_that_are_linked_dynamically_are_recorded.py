# SPDX-License-Identifier: Apache-2.0
"""jemalloc, tcmalloc and mimalloc as libraries, linked or preloaded by the user: the program behaves as untraced, the
trace lists each of its allocations and frees and names the allocator. An operator new of the allocator's own is named
as not seen if the program calls it; that of libstdc++ is listed."""

from lib import allocators, case


def expect_recorded(this, name, program, **more):
    trace = this.untraced_and_traced(program, allocators.ROUNDS, options=("--lossless", "--alloc-min", "0"), **more)
    allocators.expect_all_listed(this, trace)
    used = {image["allocator"] for image in trace.rows("image")}
    this.true(f"{name} is named", any(name in (path or "") for path in used), used)
    this.equal("rows of coverage about it", trace.covers("allocator"), [])


def expect_new_is_named(this, program, name="", **more):
    """Without another allocator, operator new calls malloc, which is listed."""
    trace = this.untraced_and_traced(program, **more)
    listed = [row for row in trace.rows("alloc") if row["op"] == "malloc" and row["size"] == 3000017]
    named = [row for row in trace.covers("operator new") if name in row["detail"]]
    this.equal(f"blocks listed, and rows of coverage about operator new with {name or 'libc'}", (len(listed), len(named)),
               (0, 1) if name else (20, 0))
    this.equal("rows of coverage about allocators", len(trace.covers("alloc")), len(named))


def check(this):
    expect_new_is_named(this, this.victim("allocates_new"))
    for name, program in allocators.victims(this, "shared"):
        expect_recorded(this, name, program)
        preload = {"LD_PRELOAD": allocators.library_of(this, name, program)}
        expect_recorded(this, name, this.victim("allocates"), env=this.environment | preload)
        expect_new_is_named(this, this.victim(f"allocates_new_{name}_shared"), name)
        expect_new_is_named(this, this.victim("allocates_new"), name, env=this.environment | preload)


if __name__ == "__main__":
    case.run(check)
