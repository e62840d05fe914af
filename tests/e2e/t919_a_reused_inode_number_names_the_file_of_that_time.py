# SPDX-License-Identifier: Apache-2.0
"""A file system reuses the inode number of a deleted file. What the kernel writes of each file belongs to the file that
had the number at that time: its bio fragments have that path, with the library in the process and without it."""

import sys

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side

FILES, PIECE = 6, 4096
PROGRAM = """
import os, sys
os.chdir(sys.argv[1])
for i in range(int(sys.argv[2])):
    fd = os.open(f"file{i}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(fd, bytes(4096) * (i + 1))
    os.fsync(fd)
    print(i, os.fstat(fd).st_ino, flush=True)
    os.close(fd)
    os.unlink(f"file{i}")
"""


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    for name, options in {"with": ("--kprobes=block,wait",), "without": ("--kprobes=block,wait,vfs", "--preload=off")}.items():
        folder = this.path(name)
        folder.mkdir()
        trace = this.trace(sys.executable, "-S", "-B", "-c", PROGRAM, folder, FILES, options=options)
        inodes = [int(line.split()[1]) for line in trace.stdout.splitlines()]
        if len(set(inodes)) == FILES:
            raise case.Skip("this file system uses no inode number again so soon")
        wanted = {f"{folder}/file{i}": PIECE * (i + 1) for i in range(FILES)}
        written = dict.fromkeys(wanted, 0)
        for part in trace.rows("block_part"):
            path = trace.paths.get(part["file_id"])
            if path in wanted and part["op"] == "write":
                written[path] += part["bytes"]
        # Some kernels leave out an event of a completion now and then: then the trace says so.
        lost = sum(row["count"] for row in trace.rows("loss") if row["unit"] == "bio fragments")
        wrong = {path: (written[path], wanted[path]) for path in wanted if written[path] != wanted[path]}
        this.true(f"{name} the library: bytes of each file", len(wrong) <= lost, (wrong, inodes))


if __name__ == "__main__":
    case.run(check)
