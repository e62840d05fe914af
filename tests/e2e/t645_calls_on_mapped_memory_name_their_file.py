# SPDX-License-Identifier: Apache-2.0
"""msync, madvise and munmap name the file that is mapped where they begin: with several mappings, moved and cut ones, and in a forked
child; with --summary-only too, except for mappings inherited by a forked child. Anonymous memory has no file."""

import sys
from collections import Counter

from lib import case

PROGRAM = """
import mmap, os, sys
folder, size = sys.argv[1], 1 << 20
def made(name):
    fd = os.open(f"{folder}/{name}", os.O_RDWR | os.O_CREAT, 0o644)
    os.ftruncate(fd, size)
    found = mmap.mmap(fd, size)
    os.close(fd)
    return found
one, two, memory = made("one"), made("two"), mmap.mmap(-1, size)
one.flush(); two.flush(); one.flush(4096, 8192)
two.madvise(mmap.MADV_RANDOM); memory.madvise(mmap.MADV_RANDOM)
if "forks" in sys.argv:
    if os.fork() == 0:
        one.flush(); two.madvise(mmap.MADV_NORMAL)
        os._exit(0)
    os.wait()
one.close(); memory.close()
three = made("three")
three.flush(); two.flush()
"""
ROWS = Counter({("msync", "one"): 3, ("msync", "two"): 2, ("msync", "three"): 1, ("madvise", "two"): 2, ("madvise", ""): 1,
                ("munmap", "one"): 1})


def check(this):
    folder = this.path("w")
    folder.mkdir()
    trace = this.trace(sys.executable, "-c", PROGRAM, folder, "forks")
    name = lambda path: path.removeprefix(f"{folder}/") if path else ""
    rows = Counter((call.func, name(call.path)) for call in trace.calls_of("msync", "madvise", "munmap")
                   if call.path.startswith(str(folder)) or call.func == "madvise" and call.requested == 1 << 20)
    this.equal("rows", {key: rows[key] for key in ROWS}, dict(ROWS))
    sums = this.trace(sys.executable, "-c", PROGRAM, folder, options=("--summary-only",))
    summed = Counter()
    for row in sums.rows("sum"):
        if row["func"] in ("msync", "madvise", "munmap"):
            summed[row["func"], name(sums.paths.get(row["file_id"], ""))] += row["calls"]
    of_files = {key: times for key, times in ROWS.items() if key[1]} | {("msync", "one"): 2, ("madvise", "two"): 1}
    this.equal("sums", {key: summed[key] for key in of_files}, of_files)


if __name__ == "__main__":
    case.run(check)
