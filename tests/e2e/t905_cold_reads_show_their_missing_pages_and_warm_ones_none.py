# SPDX-License-Identifier: Apache-2.0
"""A file is dropped from the page cache and read twice: the first time every page is missing or was read ahead, exactly
once; the second time none is."""

import subprocess

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side

SIZE, PIECE, PAGE = 1 << 20, 64 << 10, 4096
READS_TWICE = """
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
for turn in range(2):
    for offset in range(0, int(sys.argv[2]), int(sys.argv[3])):
        os.pread(fd, int(sys.argv[3]), offset)
"""


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    data = this.data_file(SIZE)
    subprocess.run(["sync", data], check=True)
    trace = this.trace("/usr/bin/python3", "-c", READS_TWICE, data, SIZE, PIECE, options=("--kprobes=block,wait",))
    paths = trace.paths
    reads = sorted((row for row in trace.rows("call") if row["func"] == "pread" and paths.get(row["file_id"]) == data),
                   key=lambda row: row["ts"])
    this.equal("reads", len(reads), 2 * SIZE // PIECE)
    cold, warm = reads[:len(reads) // 2], reads[len(reads) // 2:]
    this.equal("pages that came in the first turn", sum(row["miss_pages"] + row["ra_pages"] for row in cold), SIZE // PAGE)
    this.equal("missing from the first read", cold[0]["miss_pages"], PIECE // PAGE)
    this.equal("pages that came in the second turn", [(row["miss_pages"], row["ra_pages"]) for row in warm],
               [(0, 0)] * len(warm))
    others = [row for row in trace.rows("call") if row["func"] == "open"]
    this.true("calls that read nothing say nothing", all(row["miss_pages"] is None for row in others))


if __name__ == "__main__":
    case.run(check)
