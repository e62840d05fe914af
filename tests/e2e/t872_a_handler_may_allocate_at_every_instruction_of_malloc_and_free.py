# SPDX-License-Identifier: Apache-2.0
"""In a process with one thread (glibc 2.32), signal handlers that interrupt malloc or free of a placed block at any instruction may allocate: no block
loses what its owner wrote, and nothing waits for ever. A handler may fork at the first hundred."""

from lib import case
from lib.heap_steps import AT_ONCE, steps_of


def check(this):
    alone, recorded = ("--preload=off", "--place", "-> default"), ("--place", "-> default")
    for options in (alone, recorded):
        this.true("handlers that allocate", steps_of(this, "allocates", 0, options) > 400)
    this.equal("handlers that fork", steps_of(this, "forks", 0, alone), AT_ONCE)


if __name__ == "__main__":
    case.run(check)
