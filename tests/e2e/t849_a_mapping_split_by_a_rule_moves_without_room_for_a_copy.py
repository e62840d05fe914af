# SPDX-License-Identifier: Apache-2.0
"""A program under a limit of address space moves memory to a fixed address, which the kernel has as two mappings only because a rule is about a part of
it. The kernel moves both in one call, so that the limit need not have room for a second copy. Without the recorder, which leaves its own address
space to a program that limits itself."""

import platform

from lib import case

SIZE = 8 << 20


def check(this):
    release = platform.release()
    if tuple(int(word) for word in release.split("-")[0].split(".")[:2]) < (6, 17):
        raise case.Skip(f"Linux {release} moves one mapping in a call")
    trace = this.untraced_and_traced(this.victim("moves_under_limit"), options=("--preload=off", "--place", f"mmap size >= {SIZE} -> node 0"))
    (process,) = trace.run["placement"]["processes"]
    this.true("the first part was placed", process["rules"][0]["matches"] >= 1, process)


if __name__ == "__main__":
    case.run(check)
