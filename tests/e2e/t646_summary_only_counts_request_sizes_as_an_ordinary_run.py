# SPDX-License-Identifier: Apache-2.0
"""--summary-only counts calls by requested size as an ordinary run does, up to the largest size."""

import sys

from lib import case

PROGRAM = """
import os, sys
source, target = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_RDWR | os.O_CREAT, 0o644)
for size in (1, 2**31, 2**40, 2**61, 2**62 - 1, 2**62, 2**63 - 2**30, 2**63 - 1):
    try:
        os.copy_file_range(source, target, size, 0, 0)
    except OSError:
        pass
os.pread(source, 5000, 0); os.pwrite(target, b"x" * 70000, 0)
"""


def sizes(trace):
    return sorted((row["direction"], row["low_bytes"], row["calls"]) for row in trace.rows("summary_size")
                  if row["low_bytes"] >= 1 << 30)


def check(this):
    source, target = this.data_file(), this.path("target")
    rows = this.trace(sys.executable, "-c", PROGRAM, source, target)
    sums = this.trace(sys.executable, "-c", PROGRAM, source, target, options=("--summary-only",))
    this.equal("largest size class", max(low for _, low, _ in sizes(rows)), 2**62)
    this.equal("size classes", sizes(sums), sizes(rows))


if __name__ == "__main__":
    case.run(check)
