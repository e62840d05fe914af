#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the traces of remote_guest.sh: each request to a server as in the kernel's own events, with its call, and the part
of the calls' sleep that was for the server.

Usage: remote_check.py OUT"""

import re
from collections import Counter

from traces import CLOCKS_NS, MS, OUT, Run, check, check_time, equal, finish

ASLEEP = ("queue_ns", "device_ns", "remote_ns", "wait_ns")


class Remote(Run):
    looks_at_9p = True

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
    equal("9p: calls", sum(call["ret"] for call in reads), 8_000_000)
    begun = Counter((int(found[1]), found[2].lower()) for line in run.events
                    if (found := re.search(r"-(\d+) .*9p_client_req: .*P9_T(\w+)", line)))
    ours = Counter((row["tid"], row["op"]) for row in run.asked("9p", "read") + run.asked("9p", "clunk"))
    check("9p: no more than the kernel's own events", ours and all(begun[key] >= count for key, count in ours.items()),
          (ours, begun))
    of_reads = [row for row in run.asked("9p", "read") if row["call_id"] in {call["call_id"] for call in reads}]
    check("9p: every read asks the server", {row["call_id"] for row in of_reads} >=
          {call["call_id"] for call in reads if call["ret"]}, (len(of_reads), len(reads)))
    run.has_its_call(of_reads)
    # With the protocol's heads: of a read's answer size, type, tag and count; of a write also file and place.
    calls = {call["call_id"] for call in run.of("write", "/run/out/copy")}
    writes = [row for row in run.asked("9p", "write") if row["call_id"] in calls]
    equal("9p: bytes received", sum(row["received_bytes"] - 11 for row in of_reads), 8_000_000)
    equal("9p: bytes sent", (sum(row["sent_bytes"] - 23 for row in writes), {row["sent_bytes"] for row in of_reads}),
          (8_000_000, {23}))
    equal("9p: what the protocol's messages do not tell", {(row["server"], row["program"], row["version"], row["queue_ns"],
          row["rtt_ns"], row["transmissions"]) for row in of_reads + writes}, {(None,) * 6})
    # The server is quick, and some of its answers arrive before the caller is asleep.
    remote = run.asleep_for_the_server("reads", reads)
    check("9p: some is for the server", remote > 0, reads[:1])


def local():
    reads = Remote("local").of("read", "/mnt/disk/data")
    equal("local: not for a server", (len(reads) > 30, sum(call["remote_ns"] for call in reads)), (True, 0))


def fuse():
    run = Remote("fuse")
    signal = next(signal for signal in run.trace.run["kernel_side"]["signals"] if signal["signal"] == "remote requests")
    calls = run.of("read", "/mnt/fuse/data")
    equal("fuse: bytes", sum(call["ret"] for call in calls), 655360)
    if "FUSE" in signal.get("missing", ""):
        equal("fuse: not reported by this kernel: no rows", [row for row in run.rows if row["protocol"] == "fuse"], [])
        waits = sum(call["wait_ns"] for call in calls)
        check("fuse: waits for something", waits > 0, calls[:1])
        check_time("fuse: waits for as long as the server takes", waits > 10 * 18 * MS, waits)
        return
    rows = run.asked("fuse", "read")
    equal("fuse: one request for each call", [row["call_id"] for row in sorted(rows, key=lambda row: row["ts"])],
          [call["call_id"] for call in sorted(calls, key=lambda call: call["ts"])])
    equal("fuse: bytes, with a head of 80 to the server and one of 16 back", (
        {row["sent_bytes"] for row in rows}, sum(row["received_bytes"] - 16 for row in rows)), ({80}, 655360))
    check("fuse: takes as long as the server", all(row["dur"] >= 20 * MS for row in rows), rows[:2])
    remote = run.asleep_for_the_server("reads", calls, 0.9)
    check("fuse: some is for the server", remote > 0, calls[:1])
    check_time("fuse: asleep for as long as the server takes", remote > 10 * 18 * MS, remote)


def counted_by_mount(run, op):
    """What the kernel has added up for NFS meanwhile: requests, transmissions, bytes sent and received, ms waiting in the queue
    and for the answer."""
    def of(when):
        mount = (OUT / f"{run.name}.mounts_{when}").read_text().partition(" mounted on /mnt/nfs ")[2].partition("\ndevice ")[0]
        words = re.search(rf"^\s+{op}: (.*)$", mount, re.MULTILINE)[1].split()
        return [int(word) for word in (*words[:2], *words[3:7])]
    return [late - early for early, late in zip(of("before"), of("after"), strict=True)]


def same_as_the_mount_counts(run, op):
    rows, counted = run.asked("nfs", op.lower()), counted_by_mount(run, op)
    equal(f"{run.name}: {op}: requests, transmissions, bytes", [len(rows), *(sum(row[column] for row in rows) for column in (
        "transmissions", "sent_bytes", "received_bytes"))], counted[:4])
    for column, ms in zip(("queue_ns", "rtt_ns"), counted[4:], strict=True):
        ns = sum(row[column] for row in rows)
        check(f"{run.name}: {op}: {column}", abs(ns - ms * MS) <= MS, (ns, ms))
    check(f"{run.name}: {op}: in its time", all(0 <= row["queue_ns"] <= row["dur"] + CLOCKS_NS and
                                               0 < row["rtt_ns"] <= row["dur"] for row in rows), rows[:2])
    equal(f"{run.name}: {op}: server", {(row["server"], row["program"], row["version"]) for row in rows},
          {("127.0.0.1", "nfs", 4)})


def nfs():
    cold, warm, write = (Remote(f"nfs_{name}") for name in ("cold", "warm", "write"))
    reads = cold.of("read", "/mnt/nfs/data")
    equal("nfs: bytes", sum(call["ret"] for call in reads), 2_000_000)
    rows = cold.asked("nfs", "read")
    equal("nfs: read requests by the kernel's own events", len(rows), cold.begun(r"rpc_request: .* READ "))
    same_as_the_mount_counts(cold, "READ")
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
    if len(rows) == write.begun(r"rpc_request: .* WRITE "):  # else the kernel's threads sent some
        same_as_the_mount_counts(write, "WRITE")
    write.asleep_for_the_server("fsync", write.of("fsync", "/mnt/nfs/new"), 0.5)


for test in (nine, local, fuse, nfs):
    test()
finish("requests to servers are recorded, and the sleep for them too")
