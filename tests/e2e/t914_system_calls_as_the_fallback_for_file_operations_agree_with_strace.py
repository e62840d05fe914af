# SPDX-License-Identifier: Apache-2.0
"""Without the library and without probes on kernel functions, system calls give the file operations: as many of each,
with the same bytes per file and the same names, as strace. Their labels add up, and what they cannot record is
stated."""

import contextlib
import os
import re
import subprocess
import sys
from collections import Counter

from lib import case, labels
from lib.kernel_side import need_kernel_side

PROGRAM = """
import os, sys
os.chdir(sys.argv[1])
fd = os.open("a", os.O_RDWR | os.O_CREAT, 0o600)
for _ in range(100): os.write(fd, bytes(4096))
os.fsync(fd)
os.fdatasync(fd)
for i in range(50): os.pread(fd, 1000, i * 1000)
os.lseek(fd, 5, 0)
for _ in range(7): os.read(fd, 10)
os.preadv(fd, [bytearray(100), bytearray(28)], 4096)
os.pwritev(fd, [b"12", b"345"], 9)
os.readv(fd, [bytearray(3)] * 5)
os.writev(fd, [b"12", b"345"])
os.ftruncate(fd, 300000)
out = os.open("b", os.O_WRONLY | os.O_CREAT, 0o600)
os.sendfile(out, fd, 0, 100000)
os.copy_file_range(fd, out, 5000, 100, 200)
from_pipe, to_pipe = os.pipe()
os.splice(fd, to_pipe, 4000, 17)
os.splice(from_pipe, out, 17, None, 55)
os.write(to_pipe, b"pipe")
os.read(from_pipe, 4)
os.close(out)
copy = os.dup(fd)
os.close(fd)
os.close(copy)
in_sync = os.open("s", os.O_WRONLY | os.O_CREAT | os.O_SYNC, 0o600)
for _ in range(3): os.write(in_sync, bytes(4096))
os.close(in_sync)
by_call = os.open("t", os.O_WRONLY | os.O_CREAT, 0o600)
for flags in (os.RWF_SYNC, os.RWF_DSYNC, 0): os.pwritev(by_call, [bytes(4096)], 0, flags)
os.close(by_call)
for name in ("u", "m/v"):
    by_itself = os.open(name, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(by_itself, bytes(4096))
    os.close(by_itself)
try:
    os.open("none", os.O_RDONLY)
except OSError:
    pass
os.mkdir("d")
os.rename("a", "d/c")
os.unlink("d/c")
os.rmdir("d")
long = "n" * 255
for _ in range(30):
    os.mkdir(long[:100])
    os.chdir(long[:100])
here = os.open(".", os.O_RDONLY)
os.mkdir(long, dir_fd=here)
os.rename(long, "m" + long[1:], src_dir_fd=here, dst_dir_fd=here)
os.rename(f"m{long[1:]}", f"{sys.argv[1]}/up")
os.close(here)
os.chdir(sys.argv[1])
os.rename(".//up/../up", "x")
os.rmdir(f"{sys.argv[1]}/x/")
try:
    os.unlink("there/is none")
except OSError:
    pass
for _ in range(2):
    if os.fork() == 0:
        for _ in range(3):
            open("b", "rb").read(1000)
        os._exit(0)
    os.wait()
open("maps", "w").write(open("/proc/self/maps").read()[:10])
for _ in range(2):
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for _ in range(2): os.write(log, bytes(100))
    os.close(log)
"""
MOVES = {"read": "read", "pread64": "read", "readv": "read", "preadv": "read", "preadv2": "read",
         "write": "write", "pwrite64": "write", "writev": "write", "pwritev": "write", "pwritev2": "write"}
SYNCS = {"fsync": "fsync", "fdatasync": "fdatasync", "ftruncate": "truncate"}
ON_NAMES = {"mkdir": "mkdir", "mkdirat": "mkdir", "rename": "rename", "renameat": "rename", "renameat2": "rename",
            "unlink": "unlink", "unlinkat": "unlink", "rmdir": "rmdir"}
CALLS = ",".join([*MOVES, *SYNCS, *ON_NAMES, "chdir", "openat", "open", "sendfile", "copy_file_range", "splice"])


def add(counts, op, path, folder, ret):
    if path.startswith(f"{folder}/"):
        entry = counts.setdefault((op, path[len(str(folder)) + 1:]), [0, 0])
        entry[0] += 1
        entry[1] += ret


def named_by_strace(name, arguments, ret, current, folder):
    """The operation, its success, and its names below the folder."""
    paths = [os.path.normpath(os.path.join(begin or current, text)) for begin, text in
             re.findall(r'(?:\w+<([^>]*)>, )?"([^"]*)"', arguments)]
    op = "rmdir" if "AT_REMOVEDIR" in arguments else ON_NAMES[name]
    return op, ret == 0, *(path.replace(str(folder), "F") for path in paths)


def counted_by_strace(this, folder):
    """Calls and bytes of each operation and file; calls on names one after the other."""
    log = this.path("strace")
    subprocess.run(["strace", "-f", "-qq", "-y", "-s", "4096", "-e", f"trace={CALLS}", "-o", log, *command(folder)], check=True)
    moved, names, current = {}, [], str(this.folder)
    for line in log.read_text(errors="replace").splitlines():
        done = re.match(r"\d+ +(\w+)\((.*)\) += (-?\d+)(?:<(.*?)>)?", line)
        if not done:
            continue
        name, ret = done[1], int(done[3])
        files = re.findall(r"\b\d+<([^>]*)>", done[2])
        if name == "chdir":
            current = os.path.normpath(os.path.join(current, done[2].strip('"')))
        elif name in ON_NAMES:
            names.append(named_by_strace(name, done[2], ret, current, folder))
        elif name in ("openat", "open") and ret >= 0:
            add(moved, "open", done[4], folder, 0)
        elif name in MOVES or name in SYNCS:
            add(moved, MOVES.get(name) or SYNCS[name], files[0], folder, ret)
        elif name in ("sendfile", "copy_file_range", "splice"):
            reads, writes = files[:2] if name != "sendfile" else files[1::-1]
            add(moved, "splice read", reads, folder, ret)
            add(moved, "splice write", writes, folder, ret)
    return moved, names


def counted_by_kernel_side(trace, folder):
    moved, names = {}, []
    for row in sorted(trace.rows("vfs"), key=lambda row: row["ts"]):
        is_sync_of_a_write = row["depth"] and row["op"] in ("fsync", "fdatasync")
        if row["op"] in ON_NAMES.values():
            paths = [str(trace.paths.get(file_id)) for file_id in (row["file_id"], row["file2_id"]) if file_id]
            names.append((row["op"], row["err"] == 0, *(path.replace(str(folder), "F") for path in paths)))
        elif row["op"] != "close" and not is_sync_of_a_write:
            add(moved, row["op"], trace.paths.get(row["file_id"]) or "", folder, max(row["ret"], 0))
    return moved, names


def command(folder):
    return [sys.executable, "-S", "-B", "-c", PROGRAM, str(folder)]


@contextlib.contextmanager
def folder_that_syncs(folder):
    """A folder with a file and a file system on which every write is synced."""
    (folder / "m").mkdir(parents=True)
    (folder / "u").touch(mode=0o600)
    subprocess.run(["chattr", "+S", folder / "u"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "sync", "none", folder / "m"], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder / "m"], check=True)


def check_syncs(this, trace, of_files):
    """Syncs within writes, requested by O_SYNC (s), by the call's flags (t), by chattr +S (u) or by mount -o sync (v)."""
    operations = {row["op_id"]: trace.paths[row["file_id"]].rpartition("/")[2] for row in of_files["write"]}
    syncs = Counter((operations.get(row["outer_op_id"]), row["op"]) for row in of_files["fsync"] + of_files["fdatasync"] if row["depth"])
    this.equal("syncs in writes", syncs, {("s", "fsync"): 3, ("t", "fsync"): 1, ("t", "fdatasync"): 1, ("u", "fdatasync"): 1, ("v", "fdatasync"): 1})
    in_sync = [row for row in of_files["write"] if trace.paths[row["file_id"]].endswith("/s")]
    this.true("that take their time", all(row["dur"] > row["vfs_ns"] for row in in_sync), in_sync)


def check(this):
    need_kernel_side()
    with folder_that_syncs(this.path("by_strace")) as by_strace, folder_that_syncs(this.path("traced")) as traced:
        check_folders(this, [by_strace, traced])


def check_folders(this, folders):
    wanted = counted_by_strace(this, folders[0])
    trace = this.trace(*command(folders[1]), options=("--kprobes=block,wait,vfs", "--preload=off"))
    signal = next(signal for signal in trace.run["kernel_side"]["signals"] if signal["signal"] == "file operations")
    if signal["mechanism"] != "tracepoint":
        raise case.Skip(f"functions of the kernel record file operations here ({signal['mechanism']})")
    this.equal("calls and bytes of each file, and the names of calls on these", counted_by_kernel_side(trace, folders[1]), wanted)
    rows = trace.rows("vfs")
    of_files = {op: [row for row in rows if row["op"] == op and str(trace.paths.get(row["file_id"])).startswith(
        str(folders[1]))] for op in ("open", "close", "write", "fsync", "fdatasync")}
    this.equal("every one that is opened is closed", len(of_files["close"]), len(of_files["open"]))
    this.equal("new files are marked", sorted(trace.paths[row["file_id"]].rpartition("/")[2] for row in of_files["open"]
                                                 if row["flags"] & 4), ["a", "b", "log", "maps", "s", "t", "v"])
    check_syncs(this, trace, of_files)
    this.equal("what the kernel makes up is no file", [path for path in trace.paths.values() if path.startswith("/proc/")], [])
    appended = [row["offset"] for row in of_files["write"] if trace.paths[row["file_id"]].endswith("/log")]
    this.equal("where writes at the end begin", appended, [0, 100, 200, 300])
    this.equal("labels add up", labels.faults(trace), [])
    this.true("the note says that the times are those of calls", "times are those of the calls" in signal["note"], signal)
    summary = " ".join(this.run(case.MLRUN, "report", "--full", trace.folder).stdout.split())
    this.true("in the summary, too", "file operations: recorded by system calls; times are those of the calls" in summary,
              summary)
    this.true("what has no call is said", trace.covers("without a system call of their own"), trace.rows("coverage"))
    # This kernel leaves out a completion of a block request now and then, which is not an operation on a file.
    this.equal("nothing lost", [row for row in trace.rows("loss") if row["reason"] != labels.COMPLETION], [])
    old = this.trace(this.victim("closes_by_old_table"), "321", options=("--kprobes=block,wait,vfs", "--preload=off"))
    this.equal("calls of 32-bit programs are counted", [row["kernel"] for row in old.rows("coverage")
                                                        if "32-bit programs" in row["detail"]], [321])


if __name__ == "__main__":
    case.run(check)
