# SPDX-License-Identifier: Apache-2.0
"""Under a policy of memory, the buffer into which a process records is not reported as its memory, though it is mapped there and full of records. Shared memory
that the program makes itself is, and the summary says on which node."""

import sys
from pathlib import Path

from lib import case

MIB = 1 << 20
PROGRAM = f"""
import mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
shared = mmap.mmap(-1, 32 * {MIB}) if len(sys.argv) > 2 else None
for at in range(0, len(shared or b""), 4096): shared[at] = 1
for _ in range(300000): os.pread(file, 1, 0)
time.sleep(3.5)
"""


def check(this):
    program = this.path("program.py")
    program.write_text(PROGRAM, encoding="ascii")
    options = ("--preferred", "0", "--buffer", "16M")
    trace = this.trace(sys.executable, program, this.data_file(), options=options)
    files = {row["file"] for row in trace.rows("page_node")}
    this.true("its private memory was sampled", None in files, files)
    this.equal("shared memory, or the file of the buffer", files & {"shared memory", trace.arena_path, str(Path(trace.arena_path).resolve())}, set())
    trace = this.trace(sys.executable, program, this.data_file(), "shared", options=options)
    rows = [row for row in trace.rows("page_node") if row["file"] == "shared memory"]
    this.true("32 MiB of shared memory", len(rows) == 1 and abs(rows[0]["bytes"] - 32 * MIB) < 4 * MIB, rows)
    said = " ".join(this.run(case.MLRUN, "report", trace.folder).stdout.split())
    this.true("the summary says its node", "100 % of its shared memory on node 0" in said, said)


if __name__ == "__main__":
    case.run(check)
