# SPDX-License-Identifier: Apache-2.0
"""O_TMPFILE: bytes written to an unnamed file are not counted for its folder; the file has the kernel's name, and after
linkat its new name."""

import sys

from lib import case

PROGRAM = """
import ctypes, os, sys, tempfile
fd = os.open(sys.argv[1], os.O_TMPFILE | os.O_RDWR, 0o600)
print(os.readlink(f"/proc/self/fd/{fd}").removesuffix(" (deleted)"))
os.write(fd, b"x" * 1000)
with tempfile.TemporaryFile(dir=sys.argv[1]) as file:
    file.write(b"y" * 2000)
libc, folder = ctypes.CDLL(None), os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
named = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600, dir_fd=folder)
os.write(named, b"z" * 3000)
assert libc.linkat(-100, b"/proc/self/fd/%d" % named, folder, b"named", 0x400) == 0
os.write(named, b"z" * 4000)
again = os.open(sys.argv[1] + "/named", os.O_RDONLY)
os.read(again, 7000)
"""


def check(this):
    folder = this.path("w")
    folder.mkdir()
    trace = this.trace(sys.executable, "-c", PROGRAM, folder)
    first = trace.stdout.strip()
    this.true("the kernel's name", first.startswith(f"{folder}/#"), first)
    written = {call.ret: call.path for call in trace.calls_of("write") if call.ret in (1000, 2000, 3000, 4000)}
    this.equal("the first file", written[1000], first)
    this.true("the second file", written[2000].startswith(f"{folder}/#"), written[2000])
    named = f"{folder}/named"
    this.equal("a file that got a name", [written[3000], written[4000]], [named, named])
    this.equal("read under it", [call.ret for call in trace.calls_of("read", path=named)], [7000])
    this.equal("files of that name", sum(row["path"] == named for row in trace.rows("file")), 1)
    kinds = {row["path"]: row["kind"] for row in trace.rows("file")}
    this.equal("kind of the file", kinds[first], "regular")


if __name__ == "__main__":
    case.run(check)
