# SPDX-License-Identifier: Apache-2.0
"""Checks of split_check.py on the traces of split_ops_guest.sh: the labels of each file operation and of the calls around
them."""

from labels import Split, exactly, share, shown, total
from traces import MS, OUT, check, check_time, equal

MINOR, LATER = 16, 8


class Operations(Split):
    """A trace with operations on files."""

    def __init__(self, name):
        super().__init__(name)
        self.rows = self.trace.rows("vfs")
        check(f"{name}: operations", self.rows, "none")

    def inodes(self, start):
        """Of files whose names begin so."""
        lines = [line.split() for line in (OUT / f"{self.name}.inodes").read_text().splitlines()]
        return {int(inode) for path, inode in lines if path.rsplit("/", 1)[1].startswith(start)}


def asleep_for_device(what, rows, least=0.8):
    check(f"{what}: is there", rows, "none")
    if rows:
        check_time(f"{what}: asleep for the device", share(rows, "device_ns") > least, shown(rows))


def one_request(what, rows, least=0.8):
    """Each as long as one request takes."""
    asleep_for_device(what, rows, least)
    for row in rows:
        check_time(f"{what}: as long as it takes", row["device_ns"] > 15 * MS, shown([row]))
        exactly(f"{what}: 20 ms", abs(row["device_ns"] - 20 * MS) < 0.15 * 20 * MS, [row])


def faults(run):
    major = [row for row in run.rows if row["op"] == "fault" and row["ino"] in run.inodes("f") and not row["flags"] & MINOR]
    equal("faults: four pages", sorted(row["offset"] // 4096 for row in major), [0, 16, 32, 128])
    one_request("faults", major)
    inside = [row for row in major if row["outer_op_id"] is not None]
    equal("faults: one inside a write", [row["offset"] // 4096 for row in inside], [128])
    writes = [row for row in run.rows if row["op"] == "write" and row["op_id"] in {row["outer_op_id"] for row in inside}]
    equal("faults: the write", [row["ret"] for row in writes], [4096])
    one_request("a write that waits for a fault", writes)
    one_request("its call", [call for call in run.of("write", 4096)
                             if any(row["call_id"] == call["call_id"] for row in writes)])


def handed_in():
    run = Operations("handed_in")
    reads = [row for row in run.rows if row["op"] == "read" and row["flags"] & LATER]
    equal("handed in: each read", [row["ret"] for row in reads], [4096] * 16)
    parts = [part for part in run.parts if part["op_id"] in {row["op_id"] for row in reads}]
    equal("handed in: each has its part", len({part["op_id"] for part in parts}), 16)
    check("handed in: in fewer requests", len({part["req_id"] for part in parts}) < 16, len(parts))
    one_request("handed in", reads, 0.5)  # the first ones wait in the queue until all are handed in


def group(run):
    calls = run.of("fsync")
    equal("group: syncs", len(calls), 3)
    for call in calls:
        check_time("group: each is asleep", total([call], "device_ns", "queue_ns", "wait_ns") > 10 * MS, shown(calls))
    data = [part for part in run.parts if part["ino"] in run.inodes("group") and part["op"] == "write"]
    equal("group: each byte once", sum(part["bytes"] for part in data), 3 * 65536)
    exactly("group: device or wait", total(calls, "device_ns", "wait_ns", "queue_ns") > 0.85 * total(calls, "dur"), calls)


def msync(run):
    calls = run.of("msync")
    equal("msync: is there", len(calls), 1)
    inside = [row for row in run.rows if row["call_id"] == calls[0]["call_id"] and row["outer_op_id"] is None]
    equal("msync: is a sync of the data", {row["op"] for row in inside}, {"fdatasync"})
    asleep_for_device("msync", calls, 0.6)
    asleep_for_device("msync: its operation", [row for row in inside if row["op"] == "fdatasync"], 0.6)
    parts = [part for part in run.parts if part["call_id"] == calls[0]["call_id"] and part["op"] == "write" and part["ino"]]
    check("msync: its bytes", sum(part["bytes"] for part in parts) >= 65536, parts)


def operations():
    run = Operations("operations")
    for test in (faults, group, msync):
        test(run)


def libc():
    alone, slow = (Split(name).of("read", 12288) for name in ("libc_alone", "libc"))
    equal("in libc: reads", [len(alone), len(slow)], [3, 3])
    own = [call["own_ns"] + call["runq_ns"] for call in slow]
    check("in libc: its own time", min(own) >= 9.9 * MS, shown(slow))  # the clocks differ by some microseconds
    check_time("in libc: not without", min(call["dur"] for call in alone) < 5 * MS, shown(alone))
    check_time("in libc: and no other time", total(slow, "own_ns", "runq_ns") > 0.9 * total(slow, "dur"), shown(slow))


def mapper():
    """A disk on top has no requests and takes no time: all that it hands down carries the call and its operation."""
    run = Operations("mapper")
    leaf = run.devices["nullb0"]["dev"]
    equal("mapper: requests are those of the device below", {row["dev"] for row in run.requests}, {leaf})
    above = [part for part in run.parts if part["dev"] != leaf]
    check("mapper: what is above it is on no device", above and all(
        part["req_id"] is None and part["ts_issue"] == part["ts"] + part["dur"] for part in above), above[:2])
    def of(func, size, name):
        return [call for call in run.of(func, size) if run.trace.paths.get(call["file_id"]) == f"/dev/mapper/{name}"]
    sent_on(run, "linear", of("read", 1 << 20, "linear"), 1, 1 << 20)
    cached = of("read", 32768, "linear")
    sent_on(run, "linear, by the page cache", cached, 1, run.moved_for(cached))  # and what is read ahead
    check("linear, by the page cache: what was asked for", run.moved_for(cached) >= 32768, run.moved_for(cached))
    for what, calls in (("decrypted", of("read", 65536, "crypt")), ("encrypted", of("write", 65536, "crypt"))):
        sent_on(run, what, calls, 2, 2 * 65536)
        check(f"{what}: the worker's time is in the queue", total(calls, "queue_ns") > 0, shown(calls))
        check_time(f"{what}: and nowhere else", share(calls, "device_ns", "queue_ns") > 0.8, shown(calls))


def sent_on(run, what, calls, count, size):
    numbers = {call["call_id"] for call in calls}
    equal(f"{what}: calls", len(calls), count)
    of_calls = sum(part["bytes"] for part in run.parts if part["req_id"] and part["call_id"] in numbers)
    equal(f"{what}: every byte has its call and its operation", (of_calls, run.moved_for(calls)), (size, size))
    for call in calls:
        check_time(f"{what}: as long as the device takes", 15 * MS < call["device_ns"] + call["runq_ns"], shown(calls))
        # A worker may keep the caller from going to sleep: then it is in the run queue for some of the device's time.
        exactly(f"{what}: 20 ms", 0.85 * 20 * MS - call["runq_ns"] < call["device_ns"] < 1.15 * 20 * MS, [call])


def cut():
    run = Split("cut")
    reads = [call for call in run.of("read", 65536) if run.trace.paths.get(call["file_id"]) == "/dev/nullb0"]
    equal("cut: one read", len(reads), 1)
    asleep_for_device("cut", reads, 0.6)
    check_time("cut: both halves", reads[0]["device_ns"] > 35 * MS, shown(reads))
    exactly("cut: 40 ms", abs(reads[0]["device_ns"] - 40 * MS) < 0.1 * 40 * MS, reads)


TESTS = (operations, handed_in, libc, mapper, cut)
