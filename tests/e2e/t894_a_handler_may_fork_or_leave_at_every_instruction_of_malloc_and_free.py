# SPDX-License-Identifier: Apache-2.0
"""In a process with one thread (glibc 2.32), signal handlers that interrupt malloc or free of a placed block at any instruction may fork, or never return: no
block loses what its owner wrote, and nothing waits for ever."""

from lib import case
from lib.heap_steps import AT_ONCE, steps_of


def check(this):
    for name in ("forks", "jumps"):
        first = 0
        while (done := steps_of(this, name, first, ("--preload=off", "--place", "-> default"))) == AT_ONCE:
            first += AT_ONCE
        this.true(f"{name}: steps", first + done > 100, first + done)


if __name__ == "__main__":
    case.run(check)
