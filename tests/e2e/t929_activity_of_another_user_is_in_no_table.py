# SPDX-License-Identifier: Apache-2.0
"""Two users read, write and sync at the same time, past the page cache and through it. A trace of one user's command or
process has rows of his processes alone: waits, block I/O, file operations and system calls."""

import os
import subprocess
import tempfile
from pathlib import Path

from lib import case
from lib.kernel_side import need_block_device, need_kernel_side
from lib.killed_collector import wait_for

NOBODY = 65534
ROUNDS = 16  # each of them waits for the disk
FLAG_METADATA_WRITE = 8192  # of the system's own threads, on a device that the run writes to
BUSY = """
import mmap, os, sys, time
path, rounds, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
os.write(fd, bytes(1 << 18))
os.fsync(fd)
direct = os.open(path, os.O_RDWR | os.O_DIRECT)
buffer = mmap.mmap(-1, 1 << 16)
open(path + ".begun", "w").close()
while rounds != 0:
    rounds -= 1
    os.preadv(direct, [buffer], 0)
    os.pwritev(direct, [buffer], 1 << 16)
    os.pwrite(fd, bytes(1 << 16), 1 << 17)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.pread(fd, 1 << 16, 1 << 17)
    os.getppid()
    time.sleep(pause)
"""
WITH_LIBRARY = ("--kprobes=block,wait,vfs",)
WITHOUT = ("--kprobes=block,wait,vfs", "--preload=off")
SYSCALLS = ("--kprobes=syscalls", "--preload=off")


class Busy:
    """One user's program, until it is ended."""

    def __init__(self, folder, name, user):
        self.path = folder / name / "data.bin"
        before = () if user == 0 else ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups")
        self.process = subprocess.Popen([*before, "/usr/bin/python3", "-I", "-S", "-c", BUSY, self.path, "-1", "0.002"])
        self.pid = self.process.pid

    def __enter__(self):
        wait_for(self.path.with_name("data.bin.begun").exists, 60)
        self.before = self.io()
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.path.with_name("data.bin.begun").unlink()

    def io(self):
        """The kernel's own counts: bytes from and to devices, system calls that read and write."""
        lines = Path(f"/proc/{self.pid}/io").read_text().split("\n")
        counts = dict(line.split(": ") for line in lines if line)
        return {key: int(counts[key]) for key in ("read_bytes", "write_bytes", "syscr", "syscw")}


def expect_nothing_of(this, trace, other, what):
    now = other.io()
    this.true(f"{what}: the other one was busy meanwhile", all(now[key] > other.before[key] for key in now), (other.before, now))
    processes = {row["proc_id"]: row["pid"] for row in trace.rows("process")}
    this.true(f"{what}: the other one has no row", other.pid not in processes.values(), processes)
    inode, found = os.stat(other.path).st_ino, {}
    for table in ("wait", "vfs", "block_part", "syscall"):
        if not (trace.folder / "tables" / table).exists():
            continue
        rows = trace.rows(table)
        of_others = [row for row in rows if row.get("pid", processes.get(row["proc_id"])) not in processes.values()]
        if table == "block_part":
            of_others = [row for row in of_others if row["op"] != "flush" and not row["flags"] & FLAG_METADATA_WRITE]
            this.equal(f"{what}: parts of the other's file", [row for row in rows if row["ino"] == inode], [])
        this.equal(f"{what}: rows of {table} of other processes", of_others[:3], [])
        found[table] = len(rows)
    if (trace.folder / "tables" / "block").exists():
        carried = {row["req_id"] for row in trace.rows("block_part")}
        whose = [row for row in trace.rows("block") if row["op"] in ("read", "write") and row["req_id"] not in carried]
        this.equal(f"{what}: requests that carry nothing of the run's", whose[:3], [])
    return found


def check(this):
    case.need_root()
    need_kernel_side()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        need_block_device(folder)
        for user, mine in ((0, "root"), (NOBODY, "nobody")):
            (folder / mine).mkdir()
            os.chown(folder / mine, user, user)
        own = ("/usr/bin/python3", "-I", "-S", "-c", BUSY, folder / "root" / "own.bin", ROUNDS, 0.002)
        with Busy(folder, "nobody", NOBODY) as other:
            for options in (WITH_LIBRARY, WITHOUT, SYSCALLS):
                what = "a command with " + " ".join(options)
                rows = expect_nothing_of(this, this.trace(*own, options=options), other, what)
                expected = {"syscall"} if options == SYSCALLS else {"wait", "block_part"}
                this.true(f"{what}: rows of its own", all(rows.get(table) for table in expected), rows)
        with Busy(folder, "root", 0) as other, Busy(folder, "nobody", NOBODY) as followed:
            for streams in ("block,wait,vfs", "syscalls"):
                out = this.new_trace()
                done = this.run(case.MLRUN, f"--kprobes={streams}", "--quiet", "-o", out, "--pid", followed.pid, "--duration", "1")
                this.equal(f"exit status of --pid with {streams}", done.returncode, 0, said=done.stderr)
                rows = expect_nothing_of(this, this.opened(out), other, f"--pid with {streams}")
                expected = {"syscall"} if streams == "syscalls" else {"wait", "block_part"}
                this.true(f"--pid with {streams}: rows of its own", all(rows.get(table) for table in expected), rows)


if __name__ == "__main__":
    case.run(check)
