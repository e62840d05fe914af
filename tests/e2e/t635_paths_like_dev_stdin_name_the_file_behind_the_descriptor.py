# SPDX-License-Identifier: Apache-2.0
"""A file opened as /dev/stdin or /proc/self/fd/N is the file of that device and inode, with its own name and file
system, whatever mlrun's own streams are at merge time."""

import sys

from lib import case

PROGRAM = """
import os, sys
def read(path):
    fd = os.open(path, os.O_RDONLY)
    os.read(fd, 5000)
    os.close(fd)
read("/dev/stdin")
read("/dev/fd/0")
inner = os.open(sys.argv[1], os.O_RDONLY)
read(f"/proc/self/fd/{inner}")
read(f"/proc/{os.getpid()}/fd/{inner}")
"""


def check(this):
    given, opened = this.path("given.bin"), this.path("opened.bin")
    for path in (given, opened):
        path.write_bytes(bytes(10000))
    with open(given, "rb") as stdin:
        trace = this.trace(sys.executable, "-c", PROGRAM, opened, stdin=stdin)
    for path in (given, opened):
        reads = trace.calls_of("read", path=path)
        this.equal(f"reads of {path.name}", [call.ret for call in reads], [5000, 5000])
        inodes = {row["ino"] for row in trace.rows("file") if row["path"] == str(path)} - {0}
        this.equal("its inode", inodes, {path.stat().st_ino})
    names = [row for row in trace.rows("file") if row["ino"] in (given.stat().st_ino, opened.stat().st_ino)]
    this.equal("file systems", len({row["file_system"] for row in names} - {"devtmpfs", "proc"}), 1, said=names)
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("nothing was read of /dev", "/dev/" not in text.split("DIRECTORIES")[1].split("CALLS")[0], text)


if __name__ == "__main__":
    case.run(check)
