# SPDX-License-Identifier: Apache-2.0
"""For a program with known calls, the queries of QUERIES.md give each column that the corresponding bpftrace scripts
print: whole paths, errors as errors, buffers and offsets, process and time, the block I/O below, missing pages, the
page cache as in cachestat, system calls by name."""

import datetime
import json
import mmap
import os
import subprocess

import duckdb

from lib import case, documents
from lib.kernel_side import need_block_device, need_kernel_side

PAGES = 16
LONG = "n" * 100  # longer than what bpftrace's str() keeps
PROGRAM = """
import ctypes, errno, mmap, os, sys
folder, long, pages = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.chdir(folder)
os.umask(0)
os.mkdir("made", 0o750)
path = f"{folder}/made/{long}"
buffer = mmap.mmap(-1, pages * 4096)
fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o640)
os.pwritev(fd, [b"x" * 4096 * pages], 0)
libc = ctypes.CDLL(None, use_errno=True)
at = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
libc.pwrite(fd, ctypes.c_void_p(at + 128), ctypes.c_size_t(100), ctypes.c_long(4096))
os.fsync(fd)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
libc.pread(fd, ctypes.c_void_p(at + 64), ctypes.c_size_t(4096), ctypes.c_long(8192))
print(at)
mapped = mmap.mmap(fd, 4096 * 2, prot=mmap.PROT_READ, offset=4096)
mapped.close()
libc.mmap.restype = ctypes.c_void_p
arguments = (ctypes.c_size_t(8192), mmap.PROT_READ, mmap.MAP_PRIVATE, fd, ctypes.c_long(0))
libc.munmap(ctypes.c_void_p(libc.mmap(ctypes.c_void_p(at & ~4095), *arguments)), ctypes.c_size_t(8192))
os.close(fd)
os.close(os.open("target", os.O_WRONLY | os.O_CREAT, 0o600))
os.symlink("target", "link")
os.close(os.open("link", os.O_RDONLY))
pipe = os.pipe2(os.O_NONBLOCK)
try:
    os.read(pipe[0], 10)
except BlockingIOError:
    pass
os.rename(path, "made/short")
os.unlink("made/short")
try:
    os.unlink("made/short")
except FileNotFoundError:
    pass
os.rmdir("made")
"""


# Each step in a second of its own, in which nothing else is done. What it writes and reads is known by the number of pages.
CACHED = """
import json, os, sys, time
path, pages = sys.argv[1], int(sys.argv[2])
piece, seconds = b"x" * 4096 * pages, {}
def step(name, work):
    time.sleep(1.05 - time.monotonic() % 1)
    begin = time.monotonic_ns()
    work()
    if time.monotonic_ns() // 10**9 == begin // 10**9:
        seconds[name] = begin // 10**9
fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
step("written", lambda: os.pwrite(fd, piece, 0))
step("written again", lambda: os.pwrite(fd, piece, 0))
os.fsync(fd)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
step("cold", lambda: os.pread(fd, len(piece), 0))
step("warm", lambda: os.pread(fd, len(piece), 0))
time.sleep(1.05 - time.monotonic() % 1)
print(json.dumps(seconds))
"""


class Queries:
    """The queries of the page, found by the table or function that only they use."""

    def __init__(self):
        self.page = documents.fenced(case.SOURCE / "runner" / "trace" / "QUERIES.md", "sql")
        self.asked = set()

    def rows(self, trace, mark):
        [query] = [query for query in self.page if mark in query]
        self.asked.add(query)
        found = duckdb.sql(query.replace("'TRACE/", f"'{trace.folder}/"))
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def check_names(this, queries, trace, made):
    target = f"{this.path('work')}/target"
    opened = [row for row in queries.rows(trace, "'openat2'") if row["path"] in (made, target)]
    this.equal("opened, the last one by a link", [(row["path"], row["err"], row["flags"] & os.O_CREAT != 0, row["mode"])
                                                  for row in opened],
               [(made, 0, True, 0o640), (target, 0, True, 0o600), (target, 0, False, 0)])
    this.true("opened: process, descriptor, latency", all(
        row["pid"] == row["tid"] and row["fd"] > 2 and row["latency_ns"] > 0 and
        (row["comm"] or "python, whose name was not read in time").startswith("python") for row in opened), opened)
    rows = queries.rows(trace, "'mkdirat'")
    this.equal("made and deleted", [(row["func"], row["err"]) for row in rows if row["func"] != "close" and
                                    "/made" in (row["path"] or "")],
               [("mkdir", 0), ("rename", 0), ("unlink", 0), ("unlink", 2), ("rmdir", 0)])
    this.equal("mode of the folder", [row["mode"] for row in rows if row["func"] == "mkdir"], [0o750])
    this.equal("renamed to", [row["second_path"][-5:] for row in rows if row["func"] == "rename"], ["short"])
    this.equal("closed", len([row for row in rows if row["func"] == "close" and row["path"] == made]), 2)  # mmap has a copy


def check_data(this, queries, trace, made, buffer):
    rows = queries.rows(trace, "AS buffer,")
    this.equal("read and written", [(row["func"], row["buffer"], row["file_offset"], row["requested"], row["returned"])
                                    for row in rows if row["path"] == made],
               [("pwrite", buffer + 128, 4096, 100, 100), ("pread", buffer + 64, 8192, 4096, 4096)])
    this.equal("a read that would have to wait", [row["returned"] for row in rows if row["err"] == 11], [-1])
    mappings = [row for row in queries.rows(trace, "'munmap'") if row["path"] == made]
    mapped = [row for row in mappings if row["func"] == "mmap"]
    this.equal("unmapped", [row["length"] for row in mappings if row["func"] == "munmap"], [8192, 8192])
    this.equal("mapped", [(row["length"], row["file_offset"], row["flags"] & 3, row["prot"], row["hint"]) for row in mapped],
               [(8192, 4096, mmap.MAP_SHARED, mmap.PROT_READ, 0), (8192, 0, mmap.MAP_PRIVATE, mmap.PROT_READ, buffer & ~4095)])
    this.true("a hint where memory is mapped already", mapped[1]["address"] != mapped[1]["hint"], mapped)
    gone = [row for row in queries.rows(trace, "'munmap'") if row["func"] == "munmap" and row["address"] == mapped[0]["address"]]
    this.equal("and no more", [(row["length"], row["prot"], row["hint"]) for row in gone[:1]], [(8192, None, None)])


def check_who_and_when(this, queries, trace, begin):
    threads = queries.rows(trace, "p.role")
    this.equal("threads", [(row["tid"] == row["pid"], row["role"]) for row in threads], [(True, "main")])
    times = [row["utc"] for row in queries.rows(trace, "AS utc")]
    end = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    this.true("the time of day", times and begin <= times[0] <= end, (begin, times[:1], end))


def check_block(this, queries, trace, made):
    rows = [row for row in queries.rows(trace, "device_ns") if row["path"] == made]
    written = sum(row["bytes"] for row in rows if row["op"] == "write" and row["err"] == 0)
    # One page is changed twice: a sync of another process may write it twice.
    this.true("bytes on the disk", written in (PAGES * 4096, (PAGES + 1) * 4096), written)
    this.true("read again", any(row["op"] == "read" for row in rows), rows)
    this.true("queue and device are the latency", all(row["queue_ns"] + row["device_ns"] == row["latency_ns"] and
                                                      row["pid"] and row["disk"] for row in rows), rows[:2])
    seconds = queries.rows(trace, "AS missing")
    this.true("pages were missing", sum(row["missing"] + row["ahead"] for row in seconds) >= 1, seconds)
    kinds = {row["op"]: row["requests"] for row in queries.rows(trace, "AS requests")}
    this.true("requests by kind", kinds.get("read", 0) >= 1 and kinds.get("write", 0) >= 1, kinds)


def memory_now():
    lines = (line.split() for line in open("/proc/meminfo", encoding="utf8"))
    return {words[0]: int(words[1]) >> 10 for words in lines if words[0] in ("Buffers:", "Cached:")}


def is_near(row, key, readings, name):
    """Between the values of /proc/meminfo before and after the run: other processes use memory, too."""
    seen = [reading[name] for reading in readings]
    room = max(64, max(seen) // 2)
    return min(seen) - room <= row[key] <= max(seen) + room


def page_cache_once(this, queries):
    """Of each step hits, misses, pages made dirty and the ratio, and whether buffers and the page cache are those of the machine. A
    step that did not end in the second in which it began is left out."""
    path, before = this.path("cached"), memory_now()
    trace = this.trace("/usr/bin/python3", "-c", CACHED, path, PAGES, options=("--preload=off", "--kprobes=block,wait,vfs"))
    os.unlink(path)
    readings = (before, memory_now())
    rows = {row["second"]: row for row in queries.rows(trace, "AS buffers_mb")}
    got = {}
    for name, second in json.loads(trace.stdout.splitlines()[-1]).items():
        row = rows.get(second, {})
        is_machines = bool(row) and is_near(row, "buffers_mb", readings, "Buffers:") and is_near(row, "cached_mb", readings, "Cached:")
        got[name] = (*(row.get(key) for key in ("hits", "misses", "dirties", "hit_ratio_percent")), is_machines)
    check_operations(this, [row for row in queries.rows(trace, "AS is_new") if row["path"] == str(path)])
    return got


def check_operations(this, rows):
    size = PAGES * 4096
    this.equal("of the kernel: opened and made", [(row["err"], row["is_new"]) for row in rows if row["op"] == "open"], [(0, True)])
    this.equal("of the kernel: read and written", [(row["op"], row["file_offset"], row["requested"], row["returned"]) for row in rows
                                                   if row["op"] != "open"], [("write", 0, size, size)] * 2 + [("read", 0, size, size)] * 2)
    this.true("of the kernel: process and latency", all(row["pid"] == row["tid"] and row["latency_ns"] > 0 and
                                                          (row["comm"] or "python").startswith("python") for row in rows), rows)


def check_page_cache(this, queries):
    """The figures of bcc's cachestat. Other processes change them: a busy machine delays a step, a sync cleans dirty pages, memory
    pressure evicts pages of Python. So only one of several tries has to match those of a quiet machine."""
    wanted = {"written": (0, 0, PAGES, None, True), "written again": (0, 0, 0, None, True), "cold": (0, PAGES, 0, 0, True),
              "warm": (PAGES, 0, 0, 100, True)}
    got = {}
    for _ in range(5):
        got = page_cache_once(this, queries)
        if got == wanted:
            break
    this.equal("hits, misses, pages made dirty, the ratio, the machine's memory", got, wanted)


def check_counters(this, queries):
    """Shares of each processor add up to 100 %, and the process has its memory."""
    path = this.path("counted")
    program = f"import time\nfile = open({str(path)!r}, 'wb')\nfor _ in range(20): file.write(bytes(1 << 20)); file.flush(); time.sleep(0.05)"
    trace = this.trace("/usr/bin/python3", "-c", program, options=("--sample=cpu,disk,process",))
    disks = {row["device"] for row in queries.rows(trace, "AS rrqm_s")}
    known = {line.split()[2] for line in open("/proc/diskstats", encoding="ascii")}
    this.true("devices as in /proc/diskstats", disks <= known, sorted(disks))
    for row in queries.rows(trace, "AS gnice"):
        this.true("shares of a processor", abs(sum(row[name] for name in row if name != "cpu") - 100) < 0.1, row)
    [row] = [row for row in queries.rows(trace, "AS rss_peak") if row["pid"] == trace.rows("process")[0]["pid"]]
    this.true("memory and time of the process", row["rss_peak"] > 1 << 20 and row["user_ns"] >= 0, row)


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    folder = this.path("work")
    os.mkdir(folder)
    program = ["/usr/bin/python3", "-c", PROGRAM, folder, LONG, PAGES]
    queries = Queries()
    made = f"{folder}/made/{LONG}"
    begin = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    trace = this.trace(*program, options=("--kprobes=block,wait",))
    check_names(this, queries, trace, made)
    check_data(this, queries, trace, made, int(trace.stdout.split()[0]))
    check_who_and_when(this, queries, trace, begin)
    check_block(this, queries, trace, made)
    check_page_cache(this, queries)
    counted = this.trace("/usr/bin/python3", "-c", "import os\nfor _ in range(321): os.getppid()",
                         options=("--preload=off", "--kprobes=syscalls"))
    calls = {row["name"]: row["calls"] for row in queries.rows(counted, "AS programs")}
    this.equal("system calls by name", calls["getppid"], 321)
    check_counters(this, queries)
    this.equal("queries of the page that nothing was asked of", [query for query in queries.page if query not in queries.asked], [])
    subprocess.run(["rm", "-rf", folder], check=True)


if __name__ == "__main__":
    case.run(check)
