# SPDX-License-Identifier: Apache-2.0
"""A program resizes memory by mremap that the kernel has as several mappings only because a rule is about a part of it: the results, errors and
contents are the untraced program's, in place, moved, to a fixed address, and where a page is missing. Python's mmap.resize() works too. (Under a
ratio, which needs two nodes: tests/vm/placement/guest_check.py.)"""

from lib import case

MIB = 1 << 20
RESIZE = f"""
import mmap
mapping = mmap.mmap(-1, {8 * MIB}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for size in (64, 80, 16):
    at = min(len(mapping), {8 * MIB})
    mapping[:at] = bytes(i % 251 for i in range(4096)) * (at // 4096)
    mapping.resize(size * {MIB})
    print(len(mapping), mapping[:at] == bytes(i % 251 for i in range(4096)) * (at // 4096))
"""


def check(this):
    for more in ((), ("--preload=off",)):
        trace = this.untraced_and_traced(this.victim("grows_mappings"), options=(*more, "--place", f"mmap size >= {8 * MIB} -> node 0"))
        (process,) = trace.run["placement"]["processes"]
        this.true("mappings were placed", process["rules"][0]["matches"] >= 3, process)
        this.untraced_and_traced("/usr/bin/python3", "-c", RESIZE, options=(*more, "--place", f"mmap size >= {8 * MIB} -> node 0"))


if __name__ == "__main__":
    case.run(check)
