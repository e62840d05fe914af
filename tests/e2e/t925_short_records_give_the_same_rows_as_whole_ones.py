# SPDX-License-Identifier: Apache-2.0
"""A file operation similar to the one before takes a third of the room in the ring. The rows match what threads do in
every case: short results, offsets and lengths too large for a short record, alternating files, a pause, errors, threads
and programs that reuse another's number. While the ring is not emptied, it holds as many operations as short records
fit."""

import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

from lib import case, ring_records
from lib.driven_probes import FILE_OP, record_stopped
from lib.kernel_side import PROBES, need_kernel_side

PAGE, RING, READS = 4096, 1 << 16, 500
WHOLE, SHORT = 96 + 8, 32 + 8  # a record and the ring's own head

PROGRAM = """
import json, os, sys, threading, time
here, told = sys.argv[1], []

def done(op, name, offset, requested, returned):
    told.append((threading.get_native_id(), op, name, offset, requested, returned))
    return returned

def opened(name, flags):
    descriptor = os.open(f"{here}/{name}", flags, 0o600)
    done("open", name, None, None, 0)
    return descriptor

def closed(name, descriptor):
    os.close(descriptor)
    done("close", name, None, None, 0)

def read(name, descriptor, bytes, offset):
    done("read", name, offset, bytes, len(os.pread(descriptor, bytes, offset)))

def work(name):
    one = opened(name, os.O_RDWR | os.O_CREAT)
    done("write", name, 0, 20000, os.pwrite(one, b"x" * 20000, 0))
    for bytes, offset in (4096, 0), (20001, 0), (20001, 19999), (20001, 20000), (65535, 20000), (65536, 20000), (300000, 20000):
        read(name, one, bytes, offset)
    for offset in (1 << 43, (1 << 48) - 2, (1 << 48) - 1, 1 << 48, (1 << 62) + 5):  # of a file system in memory, which takes them
        read(name, one, 7, offset)
    two = opened(name + ".2", os.O_RDWR | os.O_CREAT)
    for number in range(20):
        done("write", name + ".2", number * 10, 10, os.pwrite(two, b"y" * 10, number * 10))
        read(name, one, 100, number)
    for _ in range(400):
        os.close(os.dup(two))
    read(name, one, 1, 1)
    time.sleep(1.2)
    read(name, one, 2, 2)
    os.fdatasync(two)
    done("fdatasync", name + ".2", 0, None, 0)
    for number in range(1000):
        read(name, one, 3, number)
    closed(name + ".2", two)
    closed(name, one)

threads = [threading.Thread(target=work, args=(f"{turn}.{number}",)) for number in range(2) for turn in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
work("last")
print(json.dumps(told))
"""

# What a thread leaves to the program that it executes: the process's number instead of its own.
EXECUTED = """
import os, sys, threading
def last():
    fd = os.open(sys.argv[1], os.O_RDONLY)
    for number in range(5): os.pread(fd, 1, number)
    os.execv(sys.executable, [sys.executable, "-S", "-B", "-c", '''
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
for number in range(6): os.pread(fd, 2, number)
''', sys.argv[1]])
fd = os.open(sys.argv[1], os.O_RDONLY)
for number in range(4): os.pread(fd, 3, number)
thread = threading.Thread(target=last)
thread.start()
thread.join()
"""

OPTIONS = ("--kprobes=require,block,wait,vfs", "--preload=off")


def rows_of(trace, folder):
    """In order of each thread, of the files in that folder: what was done."""
    rows = sorted((row for row in trace.rows("vfs") if trace.paths.get(row["file_id"], "").startswith(f"{folder}/")),
                  key=lambda row: (row["tid"], row["op_id"]))
    return [(row["tid"], row["op"], trace.paths[row["file_id"]].rsplit("/", 1)[1], row["offset"], row["requested"],
             -row["err"] if row["err"] else row["ret"] or 0) for row in rows], rows


def check_rows(this, memory):
    out = this.new_trace()
    done = this.run(case.MLRUN, *OPTIONS, "--quiet", "-o", out, "--", sys.executable, "-S", "-B", "-c", PROGRAM, memory)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    trace = this.opened(out)
    expected = [tuple(row) for row in json.loads(done.stdout)]
    found, rows = rows_of(trace, memory)
    for tid in {row[0] for row in expected}:
        pairs = zip([row for row in found if row[0] == tid], [row for row in expected if row[0] == tid])
        this.equal(f"thread {tid}: found and wanted", [pair for pair in enumerate(pairs) if pair[1][0] != pair[1][1]][:3], [])
    this.equal("rows", len(found), len(expected))
    this.equal("nothing was lost", [row for row in trace.rows("loss") if row["unit"] == "file operations"], [])
    late = [pair for pair in zip(rows, rows[1:])
            if pair[0]["tid"] == pair[1]["tid"] and pair[0]["ts"] + pair[0]["dur"] > pair[1]["ts"]]
    this.equal("one after the other", late, [])


def check_executed(this):
    data = this.data_file()
    trace = this.trace(sys.executable, "-S", "-B", "-c", EXECUTED, data, options=OPTIONS)
    reads = [(row["requested"], row["tid"] == row["pid"]) for row in trace.rows("vfs")
             if row["op"] == "read" and trace.paths.get(row["file_id"]) == str(data)]
    this.equal("reads, of the first thread or not", Counter(reads), {(3, True): 4, (1, False): 5, (2, True): 6})


def check_room(this):
    spool, victim = this.path("room"), this.victim("two_processors_static")
    Path(victim).read_bytes()  # what has to be read from the disk before it runs would take room, too
    command = f"{victim} reads {this.data_file()} - {READS}"
    report, _ = record_stopped(PROBES, f"vfs,observe,ring={RING}", spool, command, env={ring_records.VARIABLE: "1024"})
    this.equal("rings", report["rings"], {"count": 1, "bytes_each": RING})
    done = 2 * READS
    this.true("more than there is room for whole ones, not for short ones", done * SHORT < RING < done * WHOLE)
    this.equal("lost", ring_records.lost_by_processor(spool, FILE_OP), {})
    reads = [operation for operation in ring_records.operations(spool) if operation.result == PAGE]
    this.equal("operations", len(reads), done)


def check(this):
    need_kernel_side()
    this.data_file(PAGE)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        check_rows(this, memory)
    check_executed(this)
    check_room(this)


if __name__ == "__main__":
    case.run(check)
