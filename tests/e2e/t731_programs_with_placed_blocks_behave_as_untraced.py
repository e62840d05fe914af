# SPDX-License-Identifier: Apache-2.0
"""Blocks of 64 KiB and more in mlrun's heap, with and without recording: results, errors and output are the untraced program's. A thread
that never allocated frees; malloc(0) and realloc(block, 0); alignments; blocks before main and after destructors; forks, also while other
threads allocate; a seccomp filter that allows what libc's allocator needs; limits of address space, data and locked memory; a program that
protects parts of its blocks, or advises the kernel on them."""

from lib import case

CASES = (("foreign", "nothing", "aligned", "forks", "busy_forks", "protects"), ("confined",), ("address_space",), ("data",), ("advised",),
         ("locked",))


def check(this):
    for names in CASES:
        for options in (("--place", "-> default"), ("--preload=off", "--place", "-> default")):
            trace = this.untraced_and_traced(this.victim("places"), *names, options=options)
            placed = trace.run["placement"]["processes"]
            this.true(f"{names}: blocks were placed", placed and placed[0]["rules"][0]["matches"] > 0, trace.run["placement"])


if __name__ == "__main__":
    case.run(check)
