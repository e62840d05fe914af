# SPDX-License-Identifier: Apache-2.0
"""The folder that a name starts in is resolved up to 64 names and mounts from the root. A call on a deeper one has a
row without a name, and is counted."""

import sys
from collections import Counter

from lib import case
from lib.kernel_side import need_kernel_side

LEVELS, FAR = 80, 64
PROGRAM = """
import os, sys
os.chdir(sys.argv[1])
for _ in range(int(sys.argv[2])):
    os.mkdir("d")
    os.chdir("d")
"""


def check(this):
    need_kernel_side()
    trace = this.trace(sys.executable, "-S", "-B", "-c", PROGRAM, this.folder, LEVELS,
                       options=("--kprobes=block,wait,vfs", "--preload=off"))
    rows = sorted((row for row in trace.rows("vfs") if row["op"] == "mkdir"), key=lambda row: row["ts"])
    this.equal("rows", (len(rows), {row["err"] for row in rows}), (LEVELS, {0}))
    named = [trace.paths[row["file_id"]] for row in rows if row["file_id"]]
    this.equal("names of those nearby", named, [f"{this.folder}{'/d' * depth}" for depth in range(1, len(named) + 1)])
    last = len(str(this.folder).split("/")) - 1 + len(named)  # of which the folder is the one before
    this.true("as far as is promised", FAR - 8 <= last <= FAR, (last, this.folder))
    counted = Counter()  # a row for each time between two readings
    for row in trace.rows("loss"):
        if row["unit"] == "names of operations":
            counted[row["reason"]] += row["count"]
    this.equal("the others are counted", counted,
               {"deeper below the root than paths are followed": LEVELS - len(named)})


if __name__ == "__main__":
    case.run(check)
