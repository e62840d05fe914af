# SPDX-License-Identifier: Apache-2.0
"""Checkpoints written under a temporary name and then renamed, linked or exchanged into place, by this process or
another, with older ones deleted: the summary names each by its last name, with the bytes written and read."""

import json
import sys

from lib import case

BYTES = 100_000
PROGRAM = """
import ctypes, os, subprocess, sys
libc = ctypes.CDLL(None)
folder, size = sys.argv[1], int(sys.argv[2])
os.chdir(folder)
def write(path, times):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for _ in range(times):
        os.write(fd, bytes(size))
    os.fsync(fd)
    os.close(fd)
for number in range(5):                       # each under one temporary name, the older ones deleted
    write("ck.tmp", number + 1)
    os.rename("ck.tmp", f"ck_{number}.pt")
    if number >= 2:
        os.unlink(f"ck_{number - 2}.pt")
open("ck_4.pt", "rb", buffering=0).read(size)
write("linked.tmp", 7)
os.link("linked.tmp", "linked.pt")
os.unlink("linked.tmp")
write("one", 8)
write("two", 9)
assert libc.renameat2(-100, b"one", -100, b"two", 2) == 0   # RENAME_EXCHANGE
write("other.tmp", 10)
subprocess.run([sys.executable, "-I", "-S", "-c", "import os; os.replace('other.tmp', 'other.pt')"], check=True)
os.mkdir("step.tmp")
write("step.tmp/model", 11)
os.rename("step.tmp", "step")
"""


def check(this):
    folder = this.path("out")
    folder.mkdir()
    trace = this.trace(sys.executable, "-c", PROGRAM, folder, BYTES, options=["--lossless"])
    shown = json.loads(this.run(case.MLRUN, "report", trace.folder, "--json").stdout)
    written = {}
    for file in shown["files"]:
        if file["path"].startswith(f"{folder}/") and file["totals"]["bytes_written"]:
            written.setdefault(file["path"][len(str(folder)) + 1 :], []).append(file["totals"]["bytes_written"] // BYTES)
    wanted = {f"ck_{number}.pt": [number + 1] for number in range(5)}
    wanted |= {"linked.pt": [7], "two": [8], "one": [9], "other.pt": [10], "step/model": [11]}
    this.equal("written", written, wanted)
    last = next(file for file in shown["files"] if file["path"] == f"{folder}/ck_4.pt" and file["totals"]["bytes_written"])
    this.equal("and read under its last name", last["totals"]["bytes_read"], BYTES)


if __name__ == "__main__":
    case.run(check)
