#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the traces of remote_guest.sh must say: each request to a server as the kernel's own events have it, with its call,
and of the calls' time asleep how much was for the server.

Usage: remote_check.py OUT"""

import re
from collections import Counter

from traces import CLOCKS_NS, MS, OUT, Run, check, check_time, equal, finish

ASLEEP = ("queue_ns", "device_ns", "remote_ns", "wait_ns")


class Remote(Run):
    def __init__(self, name):
        super().__init__(name)
        self.rows = self.trace.rows("remote")
        self.events = (OUT / f"{name}.events").read_text().splitlines() if (OUT / f"{name}.events").exists() else []
        equal(f"{name}: none fails", [row for row in self.rows if row["err"] and row["op"] == "read"], [])

    def of(self, func, path):
        return [call for call in self.calls.values() if call["func"] == func and
                self.trace.paths.get(call["file_id"]) == path]

    def asked(self, protocol, op):
        return [row for row in self.rows if (row["protocol"], row["op"]) == (protocol, op)]

    def begun(self, pattern):
        return sum(re.search(pattern, line) is not None for line in self.events)

    def asleep_for_the_server(self, what, calls, least=0.7):
        asleep = sum(call[label] for call in calls for label in ASLEEP)
        remote = sum(call["remote_ns"] for call in calls)
        check_time(f"{self.name}: {what}: for the server", remote >= least * asleep, (remote, asleep))
        return remote

    def has_its_call(self, rows):
        for row in rows:
            call = self.calls.get(row["call_id"])
            check(f"{self.name}: began in its call", call and call["tid"] == row["tid"] and
                  -CLOCKS_NS <= row["ts"] - call["ts"] <= call["dur"] + CLOCKS_NS, (row, call))


def nine():
    run = Remote("nine")
    reads = run.of("read", "/run/out/data")
    equal("9p: calls", sum(call["ret"] for call in reads), 2_000_000)
    begun = Counter((int(found[1]), found[2].lower()) for line in run.events
                    if (found := re.search(r"-(\d+) .*9p_client_req: .*P9_T(\w+)", line)))
    ours = Counter((row["tid"], row["op"]) for row in run.asked("9p", "read") + run.asked("9p", "clunk"))
    check("9p: no more than the kernel's own events", ours and all(begun[key] >= count for key, count in ours.items()),
          (ours, begun))
    of_reads = [row for row in run.asked("9p", "read") if row["call_id"] in {call["call_id"] for call in reads}]
    check("9p: every read asks the server", {row["call_id"] for row in of_reads} >=
          {call["call_id"] for call in reads if call["ret"]}, (len(of_reads), len(reads)))
    run.has_its_call(of_reads)
    run.asleep_for_the_server("reads", reads)  # which may be no time at all, so quick is it


def local():
    reads = Remote("local").of("read", "/mnt/disk/data")
    equal("local: not for a server", (len(reads) > 30, sum(call["remote_ns"] for call in reads)), (True, 0))


def fuse():
    run = Remote("fuse")
    signal = next(signal for signal in run.trace.run["kernel_side"]["signals"] if signal["signal"] == "remote requests")
    calls = run.of("read", "/mnt/fuse/data")
    equal("fuse: bytes", sum(call["ret"] for call in calls), 655360)
    if "FUSE" in signal.get("missing", ""):
        equal("fuse: not told of by this kernel: no rows", [row for row in run.rows if row["protocol"] == "fuse"], [])
        waits = sum(call["wait_ns"] for call in calls)
        check("fuse: waits for something", waits > 0, calls[:1])
        check_time("fuse: waits for as long as the server takes", waits > 10 * 18 * MS, waits)
        return
    rows = run.asked("fuse", "read")
    equal("fuse: one request for each call", [row["call_id"] for row in sorted(rows, key=lambda row: row["ts"])],
          [call["call_id"] for call in sorted(calls, key=lambda call: call["ts"])])
    check("fuse: takes as long as the server", all(row["dur"] >= 20 * MS for row in rows), rows[:2])
    remote = run.asleep_for_the_server("reads", calls, 0.9)
    check("fuse: some is for the server", remote > 0, calls[:1])
    check_time("fuse: asleep for as long as the server takes", remote > 10 * 18 * MS, remote)


def nfs():
    cold, warm, write = (Remote(f"nfs_{name}") for name in ("cold", "warm", "write"))
    reads = cold.of("read", "/mnt/nfs/data")
    equal("nfs: bytes", sum(call["ret"] for call in reads), 2_000_000)
    rows = cold.asked("nfs", "read")
    equal("nfs: read requests by the kernel's own events", len(rows), cold.begun(r"rpc_request: .* READ "))
    check("nfs: each has its operation and its file", all(row["op_id"] and row["ino"] for row in rows), rows[:2])
    equal("nfs: its path", {cold.trace.paths.get(row["file_id"]) for row in rows}, {"/mnt/nfs/data"})
    cold.has_its_call(rows)
    check_time("nfs: some is for the server", cold.asleep_for_the_server("reads", reads) > 0, reads[:1])
    equal("nfs: a warm read asks for no data", (warm.asked("nfs", "read"),
          sum(call["remote_ns"] for call in warm.of("read", "/mnt/nfs/data"))), ([], 0))
    check("nfs: an open asks even so", warm.asked("nfs", "open") or warm.asked("nfs", "getattr"), warm.rows[:3])
    rows = write.asked("nfs", "write")
    check("nfs: write requests, no more than the kernel's own events",
          0 < len(rows) <= write.begun(r"rpc_request: .* WRITE "), len(rows))
    write.asleep_for_the_server("fsync", write.of("fsync", "/mnt/nfs/new"), 0.5)


for test in (nine, local, fuse, nfs):
    test()
finish("requests to servers are recorded, and sleep for them is told")
