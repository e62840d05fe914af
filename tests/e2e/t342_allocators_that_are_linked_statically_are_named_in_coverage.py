# SPDX-License-Identifier: Apache-2.0
"""jemalloc, tcmalloc and mimalloc linked into the program: it behaves as untraced, and the trace says that no hook sees what
its own allocator hands out. So does a whole program without libc's allocator for its libraries."""

from lib import allocators, case


def check(this):
    for name, program in allocators.victims(this, "static"):
        trace = this.untraced_and_traced(program, allocators.ROUNDS, options=("--alloc-min", "0"))
        seen = sum(allocators.listed(trace).values())
        wanted = allocators.ROUNDS * allocators.THREADS * len(allocators.ISSUED)
        this.true(f"{name}: seen by a hook, or named as not seen", seen == wanted or trace.covers("allocator"),
                  (seen, trace.rows("coverage"), trace.rows("image")))


if __name__ == "__main__":
    case.run(check)
