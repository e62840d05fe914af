#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the traces of engines_guest.sh: for each I/O engine, as many operations, bytes and requests as fio, the device's counters
and the process's page faults report, and the times at which submitted I/O completed.

Usage: engines_check.py OUT"""

import errno
import json
from collections import Counter

from traces import MS, OUT, SECTOR, Run, cannot_try, check, check_time, equal, finish

DIRECT, LATER, MINOR, ASYNC = 1, 8, 16, 32
PAGE, REQUESTS = 4096, 32
BYTES = PAGE * REQUESTS
DEVICE_NS = 5 * MS  # of the second device, for each request


def grown(before, after):
    """Requests and bytes read and written, from two readings of a device's counters."""
    reads, read_bytes, writes, write_bytes = (
        int(after.split()[at]) - int(before.split()[at]) for at in (0, 2, 4, 6))
    return {"read": (reads, read_bytes * SECTOR), "write": (writes, write_bytes * SECTOR)}


class Engines(Run):
    def __init__(self, name):
        super().__init__(name)
        self.traces_functions()
        self.own = json.loads(self.reported("own.json"))
        self.inodes = {words[0]: (int(words[1]), int(words[2])) for words in
                       (line.split() for line in self.reported("inodes").splitlines())}
        self.rows = self.trace.rows("vfs")
        self.outermost = [row for row in self.rows if row["outer_op_id"] is None]
        self.parts_of = {}
        for part in self.parts:
            self.parts_of.setdefault(part["op_id"], []).append(part)
        self.by_number = {row["req_id"]: row for row in self.requests}

    def reported(self, what):
        return (OUT / f"{self.name}.{what}").read_text()

    def of_inode(self, rows, name):
        ino, dev = self.inodes[name]
        return [row for row in rows if row["ino"] == ino and row.get("fs_dev", row.get("dev")) == dev]

    def served_by(self, operations, way):
        """Bytes that requests moved for these operations, and how many requests that took."""
        parts = [part for row in operations for part in self.parts_of.get(row["op_id"], []) if part["op"] == way]
        requests = [self.by_number[number] for number in {part["req_id"] for part in parts} if number in self.by_number]
        return len(requests), sum(row["bytes"] for row in requests), sum(part["bytes"] for part in parts)


class Job:
    """One of fio's, which is named ENGINE.DIRECT.WAY like its file."""

    def __init__(self, run, said, counted):
        self.run, self.name, self.counted = run, said["jobname"], counted
        self.engine, direct, way = self.name.split(".")
        self.direct, self.way = direct == "1", "read" if way == "randread" else "write"
        self.ios, self.bytes = said[self.way]["total_ios"], said[self.way]["io_bytes"]
        self.major_faults = said["majf"]
        self.what = f"{run.name}: {self.name}"
        rows = run.of_inode(run.outermost, self.name)
        self.syncs = [row["op"] for row in rows if "sync" in row["op"]]
        self.moving = [row for row in rows if row["op"] in (self.way, f"splice {self.way}", "fault")]
        self.done = [row for row in self.moving if row["err"] == 0]

    def check(self):
        equal(f"{self.what}: fio did it", (self.ios, self.bytes), (REQUESTS, BYTES))
        equal(f"{self.what}: of one process", len({row["pid"] for row in self.moving}), 1)
        equal(f"{self.what}: synced", len(self.syncs), 1 if self.way == "write" else 0)
        if self.engine == "mmap":
            self.check_faults()
        else:
            self.check_operations()
        self.check_completion()
        self.check_requests()

    def check_operations(self):
        op = f"splice {self.way}" if self.engine == "splice" else self.way
        equal(f"{self.what}: which operations", Counter(row["op"] for row in self.done), {op: self.ios})
        equal(f"{self.what}: past the page cache", {bool(row["flags"] & DIRECT) for row in self.moving}, {self.direct})
        equal(f"{self.what}: how many bytes", sum(row["ret"] for row in self.done), self.bytes)
        equal(f"{self.what}: where", sorted(row["offset"] for row in self.done), list(range(0, self.bytes, PAGE)))
        is_asynchronous = self.engine in ("libaio", "io_uring")
        equal(f"{self.what}: in a call of the program's", {bool(row["flags"] & ASYNC) for row in self.moving}, {is_asynchronous})
        files = [row for row in self.run.trace.rows("summary_file") if row["path"].endswith(f"/{self.name}")]
        if is_asynchronous:
            moved = "bytes_read" if self.way == "read" else "bytes_written"
            equal(f"{self.what}: in the summary", [row[moved] for row in files], [self.bytes])
        again = [row for row in self.moving if row["err"] != 0]
        equal(f"{self.what}: io_uring alone tries again", {(row["err"], self.engine) for row in again} - {
            (errno.EAGAIN, "io_uring")}, set())

    def check_faults(self):
        major = [row for row in self.done if not row["flags"] & MINOR]
        # Of the thread there may be others, of programs' own files; on 6.1, 6.12 and 7.3 there were none, and this is equality.
        threads = {row["tid"] for row in major}
        of_thread = [row for row in self.run.outermost if row["tid"] in threads and row["op"] == "fault" and
                     not row["flags"] & MINOR]
        check(f"{self.what}: as many major faults as getrusage has", len(major) <= self.major_faults <= len(of_thread),
              (len(major), self.major_faults, len(of_thread)))
        if self.way == "read":
            equal(f"{self.what}: a page each", sorted(row["offset"] for row in major), list(range(0, self.bytes, PAGE)))

    def check_completion(self):
        later = [row for row in self.moving if row["flags"] & LATER]
        equal(f"{self.what}: the others are over when they return",
              [row for row in self.moving if not row["flags"] & LATER and row["ts_done"] is not None], [])
        check(f"{self.what}: who may return before", not later or self.engine in ("libaio", "io_uring"), later[:1])
        check(f"{self.what}: those that do are over some time", all(
            row["ts_done"] is not None and row["ts_done"] >= row["ts"] for row in later), later[:3])
        for row in later:
            ends = [part["ts"] + part["dur"] for part in self.run.parts_of.get(row["op_id"], [])]
            check(f"{self.what}: not before their I/O", row["err"] or (ends and max(ends) <= row["ts_done"]), row)
        if self.run.name == "xfs" and self.direct and self.engine in ("libaio", "io_uring"):
            check_time(f"{self.what}: all do on a device that takes its time",  # else its thread was kept from returning
                       sum(row["err"] == 0 for row in later) == self.ios, later[:1])
            check(f"{self.what}: the time of the device is seen", all(
                row["ts_done"] - row["ts"] >= DEVICE_NS for row in later if not row["err"]), later[:3])

    def check_requests(self):
        requests, of_requests, of_parts = self.run.served_by(self.moving, self.way)
        if self.way == "read":
            equal(f"{self.what}: requests and bytes as the device counts them", (requests, of_requests), self.counted["read"])
            equal(f"{self.what}: every byte has its operation", of_parts, self.bytes)
            return
        check(f"{self.what}: no more than the device counts", of_requests <= self.counted["write"][1], of_requests)
        if self.direct:
            equal(f"{self.what}: every byte has its operation", of_parts, self.bytes)
        else:
            parts = [part for part in self.run.of_inode(self.run.parts, self.name) if part["op"] == "write"]
            equal(f"{self.what}: every byte has its file", sum(part["bytes"] for part in parts), self.bytes)


def jobs(run):
    text = run.reported("fio.json")
    reported = json.loads(text[text.index("{"):])["jobs"]
    readings = [run.reported(f"{job['jobname']}.prerun.txt") for job in reported]
    readings.append(run.own["sendfile"]["before"]["stat"])
    equal(f"{run.name}: jobs", len(reported), 20)
    for at, said in enumerate(reported):
        Job(run, said, grown(readings[at], readings[at + 1])).check()


def copies(run):
    """A file to another one, or to nowhere, by the kernel alone."""
    for step, ways in (("sendfile", ("splice read", "splice write")), ("sendfile to nowhere", ("splice read",)),
                       ("sendfile direct", ("splice read", "splice write")),
                       ("copy", ("clone",) if run.name == "xfs" else ("splice read", "splice write")),
                       ("splice", ("splice read", "splice write"))):
        reported = run.own[step]
        rows = [row for row in run.outermost if reported["before"]["ns"] <= row["ts"] < reported["after"]["ns"] and
                row["op"] in ("read", "write", "splice read", "splice write", "clone")]
        moved = Counter()
        for row in rows:
            moved[row["op"]] += row["ret"]
        equal(f"{run.name}: {step}: bytes", (reported["bytes"], dict(moved)), (BYTES, {way: BYTES for way in ways}))
        source = [row for row in rows if row["op"] == "splice read"]
        equal(f"{run.name}: {step}: past the page cache", {bool(row["flags"] & DIRECT) for row in source} or {False},
              {"direct" in step})
        for call_id in {row["call_id"] for row in rows}:
            most = max(sum(row["ret"] for row in rows if (row["call_id"], row["op"]) == (call_id, way)) for way in moved)
            equal(f"{run.name}: {step}: as the call", run.calls.get(call_id, {}).get("ret"), most)


def faults(run):
    reported = run.own["touch itself"]
    before, after = reported["before"], reported["after"]
    rows = [row for row in run.outermost if before["ns"] <= row["ts"] < after["ns"] and row["op"] == "fault"]
    on_file = run.of_inode(rows, "own")
    minor = sum(bool(row["flags"] & MINOR) for row in rows)
    equal(f"{run.name}: faults: a page each", sorted(row["offset"] for row in on_file), list(range(0, BYTES, PAGE)))
    # Some kernels count a wait for a page that is already being read as a major fault; where there was no such wait, as here on 6.1,
    # 6.12 and 7.3, the numbers are equal.
    check(f"{run.name}: faults: as many major ones as getrusage has",
          len(rows) - minor <= after["majflt"] - before["majflt"] <= len(rows), (len(rows), minor, before, after))
    equal(f"{run.name}: faults: each on the file is a major one", sum(bool(row["flags"] & MINOR) for row in on_file), 0)
    counted = grown(before["stat"], after["stat"])["read"]
    requests, of_requests, of_parts = run.served_by(on_file, "read")
    equal(f"{run.name}: faults: requests and bytes as the device counts them", (requests, of_requests), counted)
    equal(f"{run.name}: faults: every byte has its fault", of_parts, BYTES)


for name, device in (("ext4", "vda"), ("xfs", "nullb0")):
    if (OUT / name).exists():
        run = Engines(name)
        jobs(run)
        copies(run)
        faults(run)
        run.same_as_kernel(device, "reads", "read_bytes", "writes", "write_bytes")
    else:
        cannot_try(f"{name}: mkfs.xfs is missing")
finish("every way to ask for I/O is recorded with its operations, bytes and requests")
