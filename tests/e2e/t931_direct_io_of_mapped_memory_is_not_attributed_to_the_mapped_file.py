# SPDX-License-Identifier: Apache-2.0
"""A program reads past the page cache into a mapping of a file in memory, and writes from a mapping of a file on the
disk: the block I/O is not attributed to these two files. I/O through the page cache is attributed to the cached file,
when read, written and written back."""

import subprocess

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side

PIECE, PIECES = 65536, 4
PROGRAM = """
import mmap, os, sys
data, memory, source, size, pieces = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
def mapping_of(path):
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(fd, bytes(size))
    os.fsync(fd)
    return fd, mmap.mmap(fd, size)
(_, into), (fd, out_of) = mapping_of(memory), mapping_of(source)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
os.pread(fd, size, 0)
direct = os.open(data, os.O_RDWR | os.O_DIRECT)
for at in range(0, size * pieces, size):
    os.preadv(direct, [into], at)
    os.pwritev(direct, [out_of], at)
os.unlink(memory)
"""


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    data, memory, source = this.data_file(PIECE * PIECES), f"/dev/shm/mlrun-test-{this.folder.name}", str(this.path("source"))
    subprocess.run(["sync", data], check=True)
    for options in (("--kprobes=block,wait",), ("--kprobes=block,wait,vfs", "--preload=off")):
        trace = this.trace("/usr/bin/python3", "-c", PROGRAM, data, memory, source, PIECE, PIECES, options=options)
        lost = sum(row["count"] for row in trace.rows("loss") if row["unit"] == "bio fragments")
        parts = trace.rows("block_part")
        moved = {op: sum(part["bytes"] for part in parts if part["op"] == op and part["bytes"] == PIECE and part["ino"] is None)
                 for op in ("read", "write")}
        this.true("past the page cache", all(size >= (PIECES - lost) * PIECE for size in moved.values()), (moved, lost))
        this.equal("nothing is the file's in memory", [part for part in parts if trace.paths.get(part["file_id"]) == memory], [])
        of_source = {op: sum(part["bytes"] for part in parts if trace.paths.get(part["file_id"]) == source and part["op"] == op)
                     for op in ("read", "write")}
        this.true("of the other one what went through the page cache", all(
            max(0, PIECE * (1 - lost)) <= size <= PIECE for size in of_source.values()), (of_source, lost))


if __name__ == "__main__":
    case.run(check)
