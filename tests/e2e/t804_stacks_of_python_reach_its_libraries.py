# SPDX-License-Identifier: Apache-2.0
"""numpy in Python: stacks of its allocations go through its own library and the interpreter to the program's start, and
the program is not affected."""

import sys

from lib import case
from lib.stacks import Stacks

PROGRAM = """
import numpy
total = 0
for number in range(200):
    total += int(numpy.zeros(123457 + number, dtype=numpy.uint8).sum()) + len(numpy.arange(1000.0).tobytes())
print(total)
"""


def check(this):
    trace = this.untraced_and_traced(sys.executable, "-c", PROGRAM, options=["--stacks=64"])
    stacks = Stacks(trace)
    rows = [row for row in trace.rows("alloc") if 123457 <= row["size"] < 123657 and row["op"] != "free"]
    this.equal("arrays", len(rows), 200)
    for row in rows:
        libraries = [frame.library for frame in stacks.by_id[row["stack_id"]]]
        this.true("by numpy's library", "numpy" in libraries[0], libraries)
        this.true("from the interpreter", any("python" in library.rsplit("/", 1)[-1] for library in libraries), libraries)
        this.equal("to the start", stacks.ends[row["stack_id"]], "root")
    ends = [end for end in stacks.ends.values()]
    whole = sum(end in ("root", "depth") for end in ends)
    this.true("nearly all stacks are whole", whole >= 0.98 * len(ends), (whole, len(ends)))


if __name__ == "__main__":
    case.run(check)
