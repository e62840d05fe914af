#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the traces of block_guest.sh: exact requests, fragments and bytes, the device's configured time, and the process of
the I/O.

Usage: block_check.py OUT"""

import errno
import os
import re
import statistics
from collections import Counter

import block_tables
from traces import EXACT, MS, OUT, SECTOR, Run, cannot_try, check, check_time, equal, finish, near, report

FLAG_SPLIT, FLAG_WRITEBACK = 256, 1024
OPERATION_DIRECT = 1
PAGE = 4096


def direct():
    run = Run("direct")
    equal("direct: requests", [(row["op"], row["bytes"], row["err"]) for row in run.requests], [("read", 65536, 0)] * 8)
    equal("direct: parts", [(row["op"], row["bytes"], row["comm"]) for row in run.parts], [("read", 65536, "dd")] * 8)
    equal("direct: each part has its call", [run.func_of(part) for part in run.parts], ["read"] * 8)
    equal("direct: in order of the sectors", sorted(row["sector"] for row in run.requests),
          [number * 128 for number in range(8)])
    times = [row["ts_done"] - row["ts_issue"] for row in run.requests]
    near("direct: time on the device", statistics.median(times), 20 * MS)
    inside = [part for part in run.parts if part["call_id"] and run.calls[part["call_id"]]["ts"] <= part["ts"]
              and part["ts"] + part["dur"] <= run.calls[part["call_id"]]["ts"] + run.calls[part["call_id"]]["dur"]]
    equal("direct: parts lie within their calls", len(inside), 8)
    reads = [call for call in run.calls.values() if call["func"] == "read" and call["requested"] == 65536]
    waits = [row for row in run.waits if row["in_iowait"] and row["dur"] > 15 * MS and  # the program itself comes by 9P
             any(call["ts"] <= row["ts"] <= call["ts"] + call["dur"] for call in reads)]
    equal("direct: waits for the device", len(waits), 8)
    numbers = {row["req_id"] for row in run.requests}
    check("direct: woken by the completion", all(row["waker_req"] in numbers for row in waits),
          [row["waker_req"] for row in waits])
    run.same_as_kernel("nullb0", "reads", "read_bytes", "writes")


def whose_processor():
    """Who ran where a request was completed, and where its reader was woken, as the kernel's own events have it."""
    run = Run("busy")
    completed, woken = told_by_scheduler((OUT / "busy.events").read_text())
    equal("busy: requests", (len(run.requests), len(completed)), (8, 8))
    equal("busy: thread on the completing processor", [(row["done_tid"], row["cpu"]) for row in run.requests],
          [completed.get(row["sector"]) for row in run.requests])
    known = {(0, row["cpu"]): (0, f"swapper/{row['cpu']}") for row in run.requests}
    for line in (OUT / "busy.threads").read_text().splitlines():
        cpu, pid, tid, comm = line.split()
        known[int(tid), int(cpu)] = (int(pid), comm)
    beside = [row for row in run.requests if (row["done_tid"], row["cpu"]) in known]
    equal("busy: who they say they are", [(row["done_pid"], row["done_comm"]) for row in beside],
          [known[row["done_tid"], row["cpu"]] for row in beside])
    check_time("busy: some beside the busy threads", any(row["done_tid"] for row in beside), run.requests)
    numbers = {row["req_id"] for row in run.requests}
    waits = [row for row in run.waits if row["waker_req"] in numbers]
    check_time("busy: each wakes its reader", len(waits) == 8, run.waits)
    wakers = [min(woken, key=lambda event: abs(event[1] - row["ts_wake"])) for row in waits]
    equal("busy: waker", [(row["tid"], row["waker_tid"]) for row in waits], [(tid, waker) for tid, _, waker in wakers])
    check_time("busy: some beside the busy threads, too", any(waker for _, _, waker in wakers), wakers)


def told_by_scheduler(events):
    """By sector: the thread on the processor that completed its request, and that processor. Also the wake-ups: woken thread, time,
    waker."""
    line = r" *\S.*-(\d+) +\[(\d+)\] \S+ +(\d+\.\d+): "
    completed, woken = {}, []
    for text in events.splitlines():
        if found := re.match(line + r"block_rq_complete: \d+,\d+ RS? \(\) (\d+) \+ 128 ", text):
            completed[int(found[4])] = (int(found[1]), int(found[2]))
        elif found := re.match(line + r"sched_waking: comm=dd pid=(\d+) ", text):
            woken.append((int(found[4]), round(float(found[3]) * 1e9), int(found[1])))
    return completed, woken


def split():
    run = Run("split")
    own = [part for part in run.parts if part["bytes"] and run.func_of(part) == "read"]
    equal("split: every byte has its call", sum(part["bytes"] for part in own), 4 << 20)
    equal("split: and its operation", run.moved_for(call for call in run.calls.values() if call["requested"] == 4 << 20), 4 << 20)
    check("split: in fragments", len(own) >= 32, len(own))
    check("split: every part knows when it was queued", all(part["dur"] > 0 and part["ts_issue"] >= part["ts"] for part in own))
    check("split: cut off the front", any(part["flags"] & FLAG_SPLIT for part in own))
    equal("split: no request is larger than the device allows", max(row["bytes"] for row in run.requests), 128 << 10)
    run.same_as_kernel("vda", "reads", "read_bytes")


def merged():
    run = Run("merged")
    own = [part for part in run.parts if part["bytes"] == 4096]
    equal("merged: every operation is a part", len(own), 16)
    reads = [row for row in run.trace.rows("vfs") if row["op"] == "read" and row["flags"] & OPERATION_DIRECT and row["ret"] == 4096]
    equal("merged: each carries its own", (len(reads), {part["op_id"] for part in own}), (16, {row["op_id"] for row in reads}))
    requests = {part["req_id"] for part in own}
    check("merged: fewer requests than operations", len(requests) < 16, len(requests))
    sizes = {row["req_id"]: (row["bytes"], row["parts"]) for row in run.requests}
    equal("merged: a request is as large as its parts",
          {number: (sum(part["bytes"] for part in own if part["req_id"] == number),
                    sum(part["req_id"] == number for part in own)) for number in requests},
          {number: sizes.get(number) for number in requests})
    run.same_as_kernel("nullb0", "reads", "read_bytes")


def inode_of(name):
    for line in (OUT / "inodes").read_text().splitlines():
        path, inode, device = line.split()
        if path.endswith(name):
            return int(inode), int(device)
    raise AssertionError(name)


def fsync():
    run = Run("fsync")
    inode, device = inode_of("synced")
    data = [part for part in run.parts if part["ino"] == inode and part["op"] == "write"]
    equal("fsync: bytes of the file", sum(part["bytes"] for part in data), 4 << 20)
    equal("fsync: its file system's device", {part["fs_dev"] for part in data}, {device})
    equal("fsync: its path", {run.trace.paths.get(part["file_id"]) for part in data}, {"/mnt/disk/synced"})
    equal("fsync: whole file, each byte once", sum(part["bio_hi"] - part["bio_lo"] for part in
                                                  {(p["bio_lo"], p["bio_hi"]): p for p in data}.values()), 4 << 20)
    run.same_as_kernel("vda", "writes", "write_bytes")


def cold_and_warm():
    cold, warm = Run("cold"), Run("warm")
    inode, _ = inode_of("synced")
    data = [part for part in cold.parts if part["ino"] == inode]
    equal("cold: bytes of the file", sum(part["bytes"] for part in data), 4 << 20)
    equal("cold: queued by its reads", {cold.func_of(part) for part in data}, {"read"})
    equal("warm: no I/O of the file", [part for part in warm.parts if part["ino"] == inode], [])
    cold.same_as_kernel("vda", "reads", "read_bytes")
    for run, pages in ((cold, (4 << 20) // PAGE), (warm, 0)):
        rows = [row for row in run.calls.values() if run.trace.paths.get(row["file_id"]) == "/mnt/disk/synced"]
        equal(f"{run.name}: pages that its reads brought in", sum((row["miss_pages"] or 0) + (row["ra_pages"] or 0)
                                                                  for row in rows), pages)
    warm.same_as_kernel("vda", "reads", "read_bytes")


def system_calls():
    """Those of the interposer's table, and what the loader and the interposer do themselves."""
    run = Run("syscalls", waits=False)
    counted = {row["name"]: row for row in run.trace.rows("syscall") if row["comm"] == "dd"}
    for name, least in {"read": (4 << 20) // (64 << 10), "write": (4 << 20) // (64 << 10)}.items():
        made = sum(call["func"] == name for call in run.calls.values())
        check(f"system calls: {name}", least <= made <= counted[name]["calls"] <= made + 20, (made, counted.get(name)))
        equal(f"system calls: ends of {name}", counted[name]["ended"], counted[name]["calls"])
    equal("system calls: never ends", [counted["exit_group"][what] for what in ("calls", "ended")], [1, 0])


def writeback():
    run = Run("writeback")
    inode, _ = inode_of("late")
    data = [part for part in run.parts if part["ino"] == inode and part["op"] == "write"]
    equal("write-back: bytes of the file", sum(part["bytes"] for part in data), 1 << 20)
    equal("write-back: whose it was", {part["comm"] for part in data}, {"dd"})
    check("write-back: marked as such", all(part["flags"] & FLAG_WRITEBACK for part in data))
    equal("write-back: belongs to no call", {part["call_id"] for part in data}, {None})
    run.same_as_kernel("vda", "writes", "write_bytes")


def last_writer():
    run = Run("last_writer")
    inode, _ = inode_of("twice")
    data = [part for part in run.parts if part["ino"] == inode and part["op"] == "write"]
    equal("last writer: bytes of the file, once", sum(part["bytes"] for part in data), 2 << 20)
    equal("last writer: whose they are", {(part["comm"], part["pid"]) for part in data},
          {("last_writer", int((OUT / "last_writer.pid").read_text()))})
    check("last writer: written back", all(part["flags"] & FLAG_WRITEBACK and part["call_id"] is None for part in data), data[:2])
    writes = Counter(call["pid"] for call in run.calls.values() if call["func"] == "write" and
                     run.trace.paths.get(call["file_id"]) == "/mnt/disk/twice")
    equal("last writer: each wrote a half", list(writes.values()), [16, 16])


def beside_blktrace():
    """Everybody's requests, as another tool saw them at once. When it was says the machine, that we agree we do."""
    if not (OUT / "blkparse.txt").exists():
        cannot_try("the same requests as blktrace: it is missing")
        return
    run = Run("beside")
    wanted = told_by_blktrace((OUT / "blkparse.txt").read_text())
    device = run.devices["nullb0"]["dev"]
    requests = {row["sector"]: row for row in run.requests if row["dev"] == device}
    parts = {part["req_id"]: part for part in run.parts}
    equal("blktrace: many requests", len(wanted), 24)
    equal("blktrace: the same requests", sorted((row["sector"], row["bytes"], row["parts"]) for row in requests.values()),
          sorted((sector, size, 1) for sector, size, _, _ in wanted))
    check_time("blktrace: some wait in the queue", sum(queue_s > 0.01 for _, _, queue_s, _ in wanted) > 10, wanted)
    times = []
    for sector, size, queue_s, device_s in wanted:
        row = requests.get(sector)
        part = parts.get(row["req_id"]) if row else None
        if part is None:
            check("blktrace: each has its part", False, (sector, row))
            continue
        equal("blktrace: bytes of the part", part["bytes"], size)
        times += [("in the queue", (row["ts_issue"] - part["ts"]) / 1e9, queue_s),
                  ("on the device", (row["ts_done"] - row["ts_issue"]) / 1e9, device_s)]
    others = [time for time in times if abs(time[1] - time[2]) > 0.05 * time[2] + 100e-6]
    # An emulated processor may be kept from its work between the two programs of one event.
    check_time("blktrace: as long in the queue and on the device", len(others) <= (0 if EXACT else len(times) // 10), others)
    run.same_as_kernel("nullb0", "reads", "read_bytes")


def told_by_blktrace(listing):
    """Of each read sector, bytes, and the seconds from queued to issued and from issued to completed."""
    queued, issued, reported = {}, {}, []
    for words in map(str.split, listing.splitlines()):
        if len(words) != 5 or "R" not in words[1]:
            continue
        action, sector, count, moment = words[0], int(words[2]), int(words[3]), float(words[4])
        if action == "Q":
            queued[sector] = moment
        elif action == "D":
            issued[sector] = moment
        elif action == "C":
            reported.append((sector, count * SECTOR, issued[sector] - queued[sector], moment - issued[sector]))
    return reported


def partition():
    run = Run("partition")
    part, disk = (os.makedev(*map(int, line.split(":"))) for line in (OUT / "partition.devices").read_text().split())
    first = 8192 + 3 * (65536 // SECTOR)
    equal("partition: requests are the disk's", [(row["dev"], row["sector"], row["bytes"]) for row in run.requests],
          [(disk, first, 65536), (disk, first + 65536 // SECTOR, 65536)])
    equal("partition: parts are its own", [(row["dev"], row["bytes"], run.func_of(row)) for row in run.parts],
          [(part, 65536, "read")] * 2)
    run.same_as_kernel("nullb0", "reads", "read_bytes")


def throttled():
    """The kernel's own event says for how long it means to hold the writer up: then it sleeps, and for nothing else."""
    run, reported = Run("throttled"), []
    for line in (OUT / "throttled.events").read_text().splitlines():
        found = re.match(r" *dd-(\d+) .* balance_dirty_pages: .* paused=\d+ pause=(-?\d+) ", line)
        if found and int(found[2]) > 0:
            reported.append((int(found[1]), int(found[2])))
    rows = [row for row in run.waits if row["throttled"]]
    check("throttled: it is held up", len(reported) > 3, reported)
    if len(rows) < len(reported):  # the way from the event to the sleep took longer than what counts as one (1 ms)
        check_time("throttled: a row for each time", False, (len(rows), len(reported)))
        return
    equal("throttled: a row for each time", [row["tid"] for row in rows], [tid for tid, _ in reported])
    for row, (_, pause_ms) in zip(rows, reported, strict=False):
        # A sleep ends with a tick of the kernel's clock, of which a guest may have 100 a second.
        check("throttled: it sleeps that long", row["in_iowait"] and row["dur"] >= (pause_ms - 10) * MS, (row, pause_ms))
    over = sorted(row["dur"] - row["runq_ns"] - pause_ms * MS for row, (_, pause_ms) in zip(rows, reported, strict=False))
    check("throttled: and mostly no longer", abs(over[len(over) // 2]) < 20 * MS, over)
    asleep = sum(row["dur"] - row["runq_ns"] for row in rows)
    of_writes = sum(call["wait_ns"] for call in run.calls.values() if call["func"] == "write")
    check("throttled: writes waited for that", of_writes >= 0.99 * asleep > 0, (of_writes, asleep))
    equal("throttled: and added up", run.trace.run["kernel_side"]["throttled"], {"waits": len(rows), "asleep_ns": asleep})
    said = report("throttled")
    check("throttled: the summary says so", f"in {len(rows)} sleeps" in said, said)


def long():
    """More nanoseconds than 32 bits hold, of the request, of its part, of the sleep and of the call."""
    run, least = Run("long"), 4_500_000_000
    [row], [part] = run.requests, run.parts
    check("long: the request", row["ts_done"] - row["ts_issue"] >= least and row["dur"] >= least, row)
    check("long: its part", part["dur"] >= least and run.func_of(part) == "read", part)
    call = run.calls.get(part["call_id"], {"dur": 0, "device_ns": 0})
    check("long: its call", call["dur"] >= least and call["device_ns"] > 0.9 * least, call)
    check("long: its sleep", any(wait["in_iowait"] and wait["dur"] > 0.9 * least for wait in run.waits), run.waits)


def kinds():
    """Neither discards nor zeroes count as read."""
    run = Run("kinds")
    moved = {}
    for row in run.requests:
        moved[row["op"]] = moved.get(row["op"], 0) + row["bytes"]
        check("kinds: no error", row["err"] == 0 and row["parts"] > 0, row)
    equal("kinds: bytes of each", {op: moved.get(op, 0) for op in ("discard", "write zeroes", "write")},
          {"discard": 3 << 20, "write zeroes": 2 << 20, "write": 65536})
    of_parts = {op: sum(part["bytes"] for part in run.parts if part["op"] == op) for op in moved}
    equal("kinds: and of their parts", of_parts, moved)
    equal("kinds: comm", {part["comm"] for part in run.parts if part["op"] in ("discard", "write zeroes")}, {"blkdiscard"})
    before, after = ((OUT / f"kinds.{when}").read_text().split() for when in ("before", "after"))
    discards, sectors = (int(after[at]) - int(before[at]) for at in (11, 13))
    equal("kinds: discards by the kernel's own count", (run.devices["sda"]["discards"], moved.get("discard")),
          (discards, sectors * SECTOR))
    run.same_as_kernel("sda", "reads", "read_bytes")


def raid(level):
    """Stripes have each byte on one of the disks, mirrors each that is written on both, and every one has its call."""
    if not (OUT / f"raid{level}").exists():
        cannot_try(f"two disks as one (raid{level}): mdadm is missing")
        return
    run, size = Run(f"raid{level}"), 2 << 20  # of the disks, and by a part of them
    moved, counted = {}, {}
    for device, prefix in (("nullb0", ""), ("nullb1", "other_")):
        reported = run.counted(prefix)
        own = [part for part in run.parts if part["dev"] == run.devices[device]["dev"]]
        moved[device] = tuple(sum(part["bytes"] for part in own if part["op"] == op) for op in ("read", "write"))
        counted[device] = (reported["read_bytes"], reported["write_bytes"])
        equal(f"{run.name}: every byte of {device} has its call", {(part["op"], run.func_of(part)) for part in own
                                                               if part["bytes"]} - {("read", "read"), ("write", "write")}, set())
        check(f"{run.name}: {device}: on the device", all(part["req_id"] and part["ts"] <= part["ts_issue"] for part in own), own[:2])
    equal(f"{run.name}: bytes of each disk by the kernel's own count", moved, counted)
    equal(f"{run.name}: bytes of both", tuple(map(sum, zip(*moved.values(), strict=True))), (size, size << level))
    for func in ("read", "write"):
        calls = [call for call in run.calls.values() if call["func"] == func and call["requested"] == 256 << 10]
        on_device = sum(call["device_ns"] for call in calls if call["ret"] == 256 << 10)
        check_time(f"{run.name}: {func}: on the device", on_device >= 8 * 0.9 * MS, on_device)
        equal(f"{run.name}: {func}: every byte has its operation", run.moved_for(calls), size << level if func == "write" else size)


def told_by_kernel(name):
    """Of the disk's reads, by the kernel's own trace: how many were given back, some of them before they were issued; the sectors
    of those that were issued; sector, bytes and errno of each completion."""
    events = (OUT / f"{name}.events").read_text()
    done = re.findall(r"block_rq_complete: 8,0 RS? \(\) (\d+) \+ (\d+) (?:\S+ )?\[(-?\d+)\]", events)
    return (len(re.findall(r"block_rq_requeue: 8,0 R", events)),
            Counter(int(sector) for sector in re.findall(r"block_rq_issue: 8,0 RS? \d+ \(\) (\d+) \+ ", events)),
            [(int(sector), int(count) * SECTOR, -int(error)) for sector, count, error in done])


def requeued():
    """A request that the disk was too busy for is one request all the same."""
    run = Run("requeued")
    given_back, issued, done = told_by_kernel("requeued")
    check("requeued: some were given back, and issued again", given_back > 1 and max(issued.values()) > 1, (given_back, issued))
    equal("requeued: how often each was issued", {row["sector"]: row["issues"] for row in run.requests}, dict(issued))
    equal("requeued: each once, and none fails", sorted((row["sector"], row["bytes"], row["err"]) for row in run.requests),
          sorted(done))
    equal("requeued: every byte has its call", [(part["bytes"], run.func_of(part)) for part in run.parts],
          [(64 << 10, "read")] * 16)
    run.same_as_kernel("sda", "reads", "read_bytes")


def failing():
    run = Run("failing")
    _, issued, done = told_by_kernel("failing")
    [row] = run.requests
    equal("failing: one request", (row["sector"], row["bytes"], row["err"], row["issues"]),
          (done[0][0], sum(size for _, size, _ in done), done[-1][2], sum(issued.values())))
    check("failing: it fails", row["err"], row)
    equal("failing: its parts", sum(part["bytes"] for part in run.parts), row["bytes"])
    calls = [run.calls.get(part["call_id"], {}) for part in run.parts]
    check("failing: its call fails", all(call.get("func") == "read" and call["err"] for call in calls), calls)
    equal("failing: the device's errors", run.devices["sda"]["errors"], 1)


def partial():
    """A request that is done in pieces is one request, and each byte was read by its call."""
    run = Run("partial")
    _, issued, done = told_by_kernel("partial")
    pieces = [size for _, size, _ in done if size]
    check("partial: some were done in pieces", len(pieces) > len(run.requests) == 16, (len(pieces), len(run.requests)))
    equal("partial: all of them are there", (sum(row["bytes"] for row in run.requests), sum(pieces)), (1 << 20, 1 << 20))
    equal("partial: how often they were issued", sum(row["issues"] for row in run.requests), sum(issued.values()))
    equal("partial: every byte has its call", ({run.func_of(part) for part in run.parts}, sum(part["bytes"] for part in run.parts)),
          ({"read"}, 1 << 20))
    equal("partial: none fails", [row for row in run.requests if row["err"]], [])
    run.same_as_kernel("sda", "reads", "read_bytes")


def broken():
    """A stacked device that fails by itself: calls that fail, no request, and nothing that would be waited for for ever."""
    run = Run("broken")
    calls = [(call["func"], call["err"]) for call in run.calls.values() if call["requested"] == 64 << 10 and call["err"]]
    equal("broken: both calls fail", calls, [("read", errno.EIO), ("write", errno.EIO)])
    equal("broken: no request on the disk below", run.requests, [])
    equal("broken: nothing is missing", [row for row in run.trace.rows("loss") if row["count"]], [])
    run.same_as_kernel("sda", "reads", "writes")


def paths():
    """A disk with two controllers: requests are those of its paths, and each byte has its call."""
    run, size = Run("paths"), 512 << 10
    names = (OUT / "paths.names").read_text().split()
    devices = {row["name"]: row for row in run.trace.rows("device")}
    equal("paths: both are named as such", {name: devices.get(name, {}).get("kind") for name in names},
          dict.fromkeys(names, "path"))
    moved, counted = {}, {}
    for name, prefix in zip(names, ("", "other_"), strict=True):
        reported = run.counted(prefix)
        own = [row for row in run.requests if name in devices and row["dev"] == devices[name]["dev"]]
        moved[name] = tuple(sum(row["bytes"] for row in own if row["op"] == op) for op in ("read", "write"))
        counted[name] = (reported["read_bytes"], reported["write_bytes"])
        check(f"paths: {name} has its turn", len(own) >= 4, own)
    equal("paths: bytes of each by the kernel's own count", moved, counted)
    equal("paths: bytes of both", tuple(map(sum, zip(*moved.values(), strict=True))), (size, size))
    in_requests = [part for part in run.parts if part["req_id"]]
    equal("paths: every byte has its call", Counter((part["op"], run.func_of(part), part["bytes"]) for part in in_requests),
          {("read", "read", 64 << 10): 8, ("write", "write", 64 << 10): 8})
    calls = [(run.calls.get(part["call_id"], {"ts": 0, "dur": 0}), part) for part in in_requests]
    outside = [(call, part) for call, part in calls
               if not call["ts"] <= part["ts"] <= part["ts_issue"] <= part["ts"] + part["dur"] <= call["ts"] + call["dur"]]
    equal("paths: parts lie within their calls", outside, [])


def summary():
    """What the summary of such a run says of the kernel side."""
    said = report("direct")
    text = " ".join(said.partition("KERNEL SIDE")[2].split())
    check("summary: what was recorded, and by which way", text.startswith(
        "by tracepoint: processes, block I/O, write-back, page cache, waits, remote requests"), said)
    check("summary: and what was not", "without file operations: not asked for" in text, text)


def raids():
    raid(0)
    raid(1)


for test in (direct, whose_processor, split, merged, *block_tables.TESTS, fsync, cold_and_warm, system_calls, writeback, last_writer, beside_blktrace, partition, throttled, long, kinds, raids, requeued, failing, partial, broken, paths, summary):
    test()
finish("block I/O is recorded as the kernel counts it")
