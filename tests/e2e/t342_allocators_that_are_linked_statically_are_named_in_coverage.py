# SPDX-License-Identifier: Apache-2.0
"""With jemalloc, tcmalloc or mimalloc linked in statically, the program behaves as untraced; either hooks see all of
its allocations, or coverage says that no hook sees its allocator. reallocarray, which most of them leave to libc, resizes their
blocks; also with rules of placement, with the recorder and without."""

from lib import allocators, case


def check(this):
    for name, program in allocators.victims(this, "static"):
        for options in (("--place", "-> default"), ("--preload=off", "--place", "-> default")):
            this.untraced_and_traced(program, allocators.ROUNDS, options=options)
        trace = this.untraced_and_traced(program, allocators.ROUNDS, options=("--alloc-min", "0"))
        seen = sum(allocators.listed(trace).values())
        wanted = allocators.ROUNDS * allocators.THREADS * len(allocators.ISSUED)
        this.true(f"{name}: seen by a hook, or named as not seen", seen == wanted or trace.covers("allocator"),
                  (seen, trace.rows("coverage"), trace.rows("image")))


if __name__ == "__main__":
    case.run(check)
