# SPDX-License-Identifier: Apache-2.0
"""A program puts an allocator in front of all else in its LD_PRELOAD and starts another: this behaves as untraced, coverage names the allocator, and no rule
places its blocks. Behind mlrun's library the allocator's blocks are listed."""

import sys

from lib import allocators, case

SCRIPT = """
import os, subprocess, sys
place, library, *command = sys.argv[1:]
list = [library, os.environ.get("LD_PRELOAD")]
os.environ["LD_PRELOAD"] = ":".join(filter(None, list if place == "in front" else reversed(list)))
print(subprocess.run(command, capture_output=True, text=True), flush=True)
"""


def check(this):
    name, program = allocators.victims(this, "shared")[0]
    library = allocators.library_of(this, name, program)
    wanted = {key: allocators.ROUNDS * allocators.THREADS for key in allocators.ISSUED}
    for place in ("in front", "behind"):
        command = (sys.executable, "-c", SCRIPT, place, library, this.victim("allocates"), allocators.ROUNDS)
        trace = this.untraced_and_traced(*command, options=("--lossless", "--alloc-min", "0", "--place", "-> default"))
        # The interpreter may allocate such sizes too.
        listed = allocators.listed(trace)
        least = 0 if place == "in front" else 1
        this.true(f"{place}: allocations that are listed",
                  all(0 <= listed[key] - least * wanted[key] < allocators.ROUNDS for key in wanted), listed)
        details = [row["detail"] for row in trace.covers("in front of mlrun's hooks")]
        this.true(f"{place}: allocators in front", [library in one for one in details] == [True] * (1 - least), details)
        this.equal(f"{place}: programs without rules", trace.run["placement"]["without_block_rules"], 1 - least)


if __name__ == "__main__":
    case.run(check)
