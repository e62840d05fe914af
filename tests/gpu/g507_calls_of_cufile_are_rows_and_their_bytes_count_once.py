# SPDX-License-Identifier: Apache-2.0
"""--kprobes=cufile: each call of libcufile is a row with its file, place and bytes, for a command and for a running
process. What libcufile itself reads and writes for the call, in the same thread or in another one, is kept apart from
the program's own I/O, and bytes count once. A reused handle or descriptor is the new file. Operations of batches are
rows too (cufile_batches.py)."""

import os

import cufile_batches
import uprobe_case
from gpu_case import report
from lib import case
from lib.killed_collector import wait_for
from lib.trace import Trace

LIBRARY = case.BUILD / "gpu" / "uprobe" / "libcufile.so.0"
FUNCTIONS = 2 + 2 + 2 + 4  # handles, transfers, asynchronous ones, batches: those that the mock has
CALLER, THREAD, DRIVER = 0, 1, 2
SIZE = 1 << 20

CUFILE_CALLS = """
import ctypes, os, sys
from ctypes import byref, c_int, c_longlong, c_size_t, c_ssize_t, c_uint64, c_void_p

class Descriptor(ctypes.Structure):
    _fields_ = [("type", c_int), ("fd", c_uint64), ("operations", c_void_p)]

class Error(ctypes.Structure):
    _fields_ = [("err", c_int), ("cu_err", c_int)]

buffer = ctypes.create_string_buffer(1 << 20)

def load(path):
    global cufile
    cufile = ctypes.CDLL(path)
    cufile.cuFileHandleDeregister.restype = None
    cufile.cuFileRead.restype = cufile.cuFileWrite.restype = c_ssize_t
    cufile.cuFileBatchIODestroy.restype = None
    for name in ("cuFileHandleRegister", "cuFileReadAsync", "cuFileBatchIOSetUp", "cuFileBatchIOSubmit",
                 "cuFileBatchIOGetStatus", "cuFileBatchIOCancel"):
        getattr(cufile, name).restype = Error

def register(fd):
    handle = c_void_p()
    error = cufile.cuFileHandleRegister(byref(handle), byref(Descriptor(1, fd, None)))
    return handle.value or -error.err

def deregister(handle):
    return cufile.cuFileHandleDeregister(c_void_p(handle))

def move(function, mode, handle, size, offset):
    cufile.mock_mode(mode)
    return getattr(cufile, function)(c_void_p(handle), buffer, c_size_t(size), c_longlong(offset), c_longlong(0))

def read_async(handle, size, offset):
    cufile.mock_mode(0)
    done = c_ssize_t()
    return cufile.cuFileReadAsync(c_void_p(handle), buffer, byref(c_size_t(size)), byref(c_longlong(offset)),
                                  byref(c_longlong(0)), byref(done), c_void_p(1)).err
"""
CALLS = CUFILE_CALLS + cufile_batches.CALLS


def transfer(one, wanted, function, mode, handle, size, offset, moved, path, posix):
    """Makes the transfer, and notes its expected row. posix: the number of reads or writes that libcufile makes for it."""
    got = one.do(f"move({function!r}, {mode}, {handle}, {size}, {offset})")
    if got != moved:
        raise AssertionError(f"{function}: {got} and not {moved}")
    inside = (posix, moved if posix else 0) if moved >= 0 else (None, None)
    wanted.append((function, str(path) if path else None, offset, size, max(moved, -1), max(-moved, 0), *inside))


def work(this, one):
    """The expected rows, and the bytes of each file that were read and written."""
    data, other, target = (this.path(name) for name in ("data", "other", "target"))
    for path in (data, other):
        path.write_bytes(bytes(SIZE))
    wanted = []
    fd = one.do(f"os.open({str(data)!r}, os.O_RDONLY)")
    first = one.do(f"register({fd})")
    transfer(one, wanted, "cuFileRead", CALLER, first, 65536, 0, 65536, data, 1)
    one.do(f"len(os.pread({fd}, 1000, 0))")
    transfer(one, wanted, "cuFileRead", THREAD, first, 131072, 65536, 131072, data, 2)
    transfer(one, wanted, "cuFileRead", DRIVER, first, 4096, 262144, 4096, data, 0)
    transfer(one, wanted, "cuFileRead", CALLER, first, 8192, SIZE - 100, 100, data, 1)
    # The descriptor's number is another file's from here on, and the handle is still that of the first one.
    one.do(f"os.close({fd})")
    this.equal("the number is used again", one.do(f"os.open({str(other)!r}, os.O_RDONLY)"), fd)
    second = one.do(f"register({fd})")
    transfer(one, wanted, "cuFileRead", CALLER, first, 10, 0, 10, data, 1)
    transfer(one, wanted, "cuFileRead", CALLER, second, 20, 0, 20, other, 1)
    # The handle is another file's from here on.
    one.do(f"deregister({first})")
    written = one.do(f"os.open({str(target)!r}, os.O_RDWR | os.O_CREAT)")
    this.equal("the handle is used again", one.do(f"register({written})"), first)
    transfer(one, wanted, "cuFileWrite", CALLER, first, 5000, 0, 5000, target, 1)
    transfer(one, wanted, "cuFileWrite", THREAD, first, 3000, 5000, 3000, target, 2)
    transfer(one, wanted, "cuFileWrite", DRIVER, first, 700, 8000, 700, target, 0)
    transfer(one, wanted, "cuFileRead", CALLER, 12345, 30, 0, -5022, None, 0)
    this.equal("it fails", one.do("register(99)"), -5005)
    this.equal("asynchronous", one.do(f"read_async({second}, 40, 50)"), 0)
    batches = cufile_batches.work(this, one, (second, other), (first, target))
    bytes_of = {str(data): (65536 + 131072 + 4096 + 100 + 1000 + 10, 0),
                str(other): (20 + 40 + batches.bytes_read, 0), str(target): (0, 5000 + 3000 + 700 + batches.bytes_written)}
    return wanted, bytes_of, batches


def check_rows(this, trace, wanted, batches, pid, tells_posix=True):
    """Without tells_posix the kernel records no file operations, and those below calls of a running process are unknown."""
    paths = {os.stat(row[1]).st_ino: row[1] for row in wanted if row[1]}
    wanted = [row if tells_posix else (*row[:6], None, None) for row in wanted]
    rows = sorted((row for row in trace.rows("gpu_file") if row["pid"] == pid), key=lambda row: row["gpu_file_id"])
    moved = [row for row in rows if row["func"] in ("cuFileRead", "cuFileWrite")]
    this.equal("rows", [(row["func"], paths.get(row["ino"]), row["offset"], row["requested"], row["ret"], row["err"],
                         row["posix_calls"], row["posix_bytes"]) for row in moved], wanted)
    inside_batches = batches.check(this, trace, [row for row in rows if "atch" in row["func"]], tells_posix)
    others = [(row["func"], row["err"], row["operations"], row["requested"], row["offset"], row["ret"]) for row in rows
              if row not in moved and "atch" not in row["func"]]
    this.equal("others", others,
               [("cuFileHandleRegister", 0, 0, None, None, None), ("cuFileHandleRegister", 0, 0, None, None, None),
                ("cuFileHandleDeregister", 0, 0, None, None, None), ("cuFileHandleRegister", 0, 0, None, None, None),
                ("cuFileHandleRegister", 5005, 0, None, None, -1), ("cuFileReadAsync", 0, 1, 40, 50, None)])
    this.true("what is not known is said", trace.covers("asynchronous calls of cuFile"), trace.rows("coverage"))
    lost = [row for row in trace.rows("loss") if "calls of libcufile" in row["unit"]]
    this.equal("nothing lost", lost, [])
    return {row["gpu_file_id"]: row for row in moved + inside_batches}


def check_inside(this, trace, table, moved, pid, moves):
    """Rows of libcufile's own reads and writes lead to its calls, and those of the program to none."""
    inside = {}
    for row in trace.rows(table):
        number = row["gpu_file_id"]
        if number is None:
            continue
        this.equal("of the same process and file", (row["pid"], row["file_id"]), (pid, moved[number]["file_id"]))
        this.true("within it", moves(row), row)
        inside[number] = inside.get(number, 0) + 1
    this.equal("linked", inside, {number: row["posix_calls"] for number, row in moved.items() if row["posix_calls"]})


def check_command(this):
    out = this.new_trace()
    command = (case.MLRUN, "--preload=files", "--kprobes=cufile", "--quiet", "-o", out)
    one = uprobe_case.Victim(this, library=None, before=[str(word) for word in command], calls=CALLS)
    mlrun = one.process.pid
    before = uprobe_case.probes_held_by(mlrun)
    one.do(f"load({str(LIBRARY)!r})")
    wait_for(lambda: uprobe_case.probes_held_by(mlrun) == before + 2 * FUNCTIONS, 120)
    wanted, bytes_of, batches = work(this, one)
    one.end()
    this.equal("exit status", one.process.returncode, 0)
    trace = Trace(out)
    moved = check_rows(this, trace, wanted, batches, one.pid)
    check_inside(this, trace, "call", moved, one.pid, lambda row: row["func"] in ("pread", "pwrite"))
    own = [row for row in trace.rows("call") if row["func"] == "pread" and row["ret"] == 1000]
    this.equal("the program's own read", [row["gpu_file_id"] for row in own], [None])
    said = report(this, trace)
    files = {row["path"]: (row["totals"]["bytes_read"], row["totals"]["bytes_written"]) for row in said["files"]}
    this.equal("bytes of each file, once", {path: files.get(path) for path in bytes_of}, bytes_of)
    sums = {row["func"]: (row["calls"], row["errors"], row["bytes"], row["posix_bytes"]) for row in said["gpu_files"]}
    reads = [row for row in wanted if row[0] == "cuFileRead"]
    this.equal("sums", sums["cuFileRead"],
               (len(reads), 1, sum(max(row[4], 0) for row in reads), sum(row[7] or 0 for row in reads)))
    batches.check_sums(this, sums)
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary has a part for it", "CUFILE" in text, text)


def check_observed(this):
    with uprobe_case.victim(this, library=LIBRARY, calls=CALLS) as one:
        seen = uprobe_case.Observation(this, "--pid", one.pid, kprobes="vfs,cufile")
        wanted, _, batches = work(this, one)
        trace = seen.end()
    signals = {signal["signal"]: signal["mechanism"] for signal in trace.run["kernel_side"]["signals"]}
    moved = check_rows(this, trace, wanted, batches, one.pid, tells_posix=signals["file operations"] is not None)
    if signals["file operations"]:
        check_inside(this, trace, "vfs", moved, one.pid, lambda row: row["op"] in ("read", "write"))
    this.true("that there were calls before is said", trace.covers("calls of cuFile before the probes were attached"), trace.rows("coverage"))


def check_options(this):
    refused = this.run(case.MLRUN, "--kprobes=cuda,cufile", "true")
    this.true("cuda is of what runs already", refused.returncode != 0 and "--cupti" in refused.stderr, refused.stderr)


def check(this):
    uprobe_case.need_uprobes()
    check_options(this)
    check_observed(this)
    check_command(this)


if __name__ == "__main__":
    case.run(check)
