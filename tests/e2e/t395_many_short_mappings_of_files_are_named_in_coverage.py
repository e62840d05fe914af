# SPDX-License-Identifier: Apache-2.0
"""A file read through mappings of 64 KiB each is in coverage with all of their bytes, as with one long mapping; a few
short ones have no line."""

from lib import case

WINDOWS = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    for at in range(0, int(sys.argv[2]) << 16, 1 << 16):
        mmap.mmap(file.fileno(), 1 << 16, prot=mmap.PROT_READ, offset=at).close()
"""


def check(this):
    data = this.data_file(4 << 20)
    for windows, wanted in ((64, 1), (4, 0)):
        trace = this.trace("/usr/bin/python3", "-c", WINDOWS, data, windows)
        rows = [row for row in trace.covers("mapped files") if f"{data} (4.00 MiB)" in row["detail"] or f"{data} (4 MiB)" in row["detail"]]
        this.equal(f"rows about {windows} mappings", len(rows), wanted, said=str(trace.rows("coverage")))


if __name__ == "__main__":
    case.run(check)
