# SPDX-License-Identifier: Apache-2.0
"""A program puts an allocator in front of all else in its LD_PRELOAD and calls system(), whose shell libc starts with that variable: coverage
names the allocator of the shell and does not call the shell unseen. The program that the shell executes is listed, and so is one that
subprocess starts."""

import sys

from lib import allocators, case

SCRIPT = """
import os, subprocess, sys
library, *command = sys.argv[1:]
os.environ["LD_PRELOAD"] = ":".join(filter(None, (library, os.environ.get("LD_PRELOAD"))))
print(subprocess.run(command, capture_output=True, text=True), flush=True)
os.system(" ".join(command))
"""


def check(this):
    name, program = allocators.victims(this, "shared")[0]
    library = allocators.library_of(this, name, program)
    command = (sys.executable, "-c", SCRIPT, library, this.victim("allocates"), allocators.ROUNDS)
    trace = this.untraced_and_traced(*command, options=("--lossless", "--alloc-min", "0"))
    wanted = {key: 2 * allocators.ROUNDS * allocators.THREADS for key in allocators.ISSUED}
    # The interpreter may allocate such sizes too.
    listed = allocators.listed(trace)
    this.true("allocations of both programs are listed", all(0 <= listed[key] - wanted[key] < allocators.ROUNDS for key in wanted), listed)
    details = {row["detail"] for row in trace.covers("in front of mlrun's hooks")}
    this.equal("allocators in front", details, {f"the allocator in {library} is in front of mlrun's hooks, which do not see its calls"})
    this.equal("shells that are called unseen", trace.covers("from its environment"), [])


if __name__ == "__main__":
    case.run(check)
