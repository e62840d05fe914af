# SPDX-License-Identifier: Apache-2.0
"""jemalloc, tcmalloc and mimalloc as libraries, linked and preloaded by the user: the program behaves as untraced, each of its allocations and frees is listed,
and the trace names the allocator."""

from lib import allocators, case


def expect_recorded(this, name, program, **more):
    trace = this.untraced_and_traced(program, allocators.ROUNDS, options=("--lossless", "--alloc-min", "0"), **more)
    allocators.expect_all_listed(this, trace)
    used = {image["allocator"] for image in trace.rows("image")}
    this.true(f"{name} is named", any(name in (path or "") for path in used), used)
    this.equal("rows of coverage about it", trace.covers("allocator"), [])


def library_of(this, name, program):
    lines = this.run("ldd", program).stdout.splitlines()
    return next(line.split()[2] for line in lines if name in line.split()[0])


def check(this):
    for name, program in allocators.victims(this, "shared"):
        expect_recorded(this, name, program)
        preload = {"LD_PRELOAD": library_of(this, name, program)}
        expect_recorded(this, name, this.victim("allocates"), env=this.environment | preload)


if __name__ == "__main__":
    case.run(check)
