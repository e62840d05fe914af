#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the time labels of the calls of split_guest.sh: they add up to every duration and have the right values.
Usage: split_check.py OUT"""

import statistics

import split_ops
from labels import ASLEEP, Split, exactly, share, shown, total
from traces import MS, OUT, check, check_time, equal, finish, near


def direct():
    reads = Split("direct").of("read", 4096)
    equal("direct: reads", len(reads), 5)
    check_time("direct: asleep for the device", share(reads, "device_ns") > 0.8, shown(reads))
    check_time("direct: as long as it takes", statistics.median(call["device_ns"] for call in reads) > 15 * MS, shown(reads))
    equal("direct: none shared", total(reads, "device_shared_ns"), 0)
    device = statistics.median(call["device_ns"] for call in reads)
    rest = statistics.median(call["dur"] - call["device_ns"] for call in reads)
    exactly("direct: 20 ms", abs(device - 20 * MS) < 0.15 * 20 * MS and rest < 3 * MS, reads)


def crowded():
    """Others on its processor are seen in the run queue alone: its own time and the device's are what they were."""
    runs = [Split(name) for name in ("alone", "crowded")]
    alone, among = (run.of("read", 12288) for run in runs)
    equal("crowded: reads", [len(alone), len(among)], [12, 12])
    for what, run, calls in (("alone", runs[0], alone), ("crowded", runs[1], among)):
        # The kernel counts the processor's time by its own clock, and begins before it emits the switch event: an emulator that is
        # descheduled in between makes that interval long.
        own = [call["own_ns"] for call in calls]
        check(f"{what}: computes for as long as it does", min(call["own_ns"] + call["runq_ns"] for call in calls) >= 9.9 * MS, shown(calls))
        check_time(f"{what}: on the processor", min(own) >= 9.9 * MS, shown(calls))
        # As long as it took, which a busy machine makes longer.
        numbers = {call["call_id"] for call in calls}
        took = [part["ts"] + part["dur"] - part["ts_issue"] for part in run.parts if part["call_id"] in numbers]
        check(f"{what}: each asks the device once, for 20 ms", len(took) == 12 and min(took) >= 19 * MS, took)
        near(f"{what}: the device", total(calls, "device_ns"), sum(took), 0.1)
        check_time(f"{what}: and for no longer", statistics.median(own) < 15 * MS, shown(calls))
        exactly(f"{what}: 10 ms", abs(total(calls, "own_ns") - 12 * 10 * MS) < 0.1 * 12 * 10 * MS, calls)
    runq = [total(calls, "runq_ns") for calls in (alone, among)]
    check_time("crowded: ready and not running", runq[1] > runq[0] + 60 * MS, runq)


def shared():
    run = Split("shared")
    have_parts = {part["call_id"] for part in run.parts}
    met = []
    for offset in range(0, 8 * 16384, 16384):
        pair = sorted((call for call in run.of("pread", 4096) if call["offset"] == offset),
                      key=lambda call: call["call_id"] not in have_parts)
        equal("the second reader: no part of its own", [call["call_id"] in have_parts for call in pair], [True, False])
        first, second = pair
        done = max(part["ts"] + part["dur"] for part in run.parts if part["call_id"] == first["call_id"])
        if second["ts"] + 5 * MS > done:
            continue  # it came too late to wait
        met.append(offset)
        equal("the second reader: asleep for the first one's", second["device_ns"], second["device_shared_ns"])
        check_time("the second reader: asleep for the device", share([second], "device_ns") > 0.7, shown(pair))
        if offset == 0:
            exactly("the second reader: for the rest of it",
                    abs(first["ts"] + first["dur"] - second["ts"] - second["dur"]) < 3 * MS and
                    3 * MS < second["device_ns"] < 17 * MS, pair)
    check_time("the second reader: comes while the first one waits", met, "never")


def sequential():
    reads = Split("sequential").of("read", 16384)
    starters = [call for call in reads if call["ra_pages"] and not call["miss_pages"]]
    check("in order: some only start to read ahead", starters, shown(reads))
    equal("in order: for which they do not wait", total(starters, "device_ns") - total(starters, "device_shared_ns"), 0)
    slower_than_device = total(reads, "own_ns", "runq_ns") > total(reads, "device_ns")  # nothing is left to wait for
    check_time("in order: some wait for what was read ahead", slower_than_device or any(call["device_shared_ns"] > 5 * MS and
          not call["miss_pages"] for call in reads), shown(reads))
    check_time("in order: asleep for the device", share(reads, "device_ns", "queue_ns") > 0.8, shown(reads))
    exactly("in order: who only starts to read ahead has no device, who comes then waits for it",
            any(call["device_ns"] == 0 for call in starters) and
            any(15 * MS < call["device_shared_ns"] + call["runq_ns"] < 20.5 * MS and call["device_shared_ns"] > 10 * MS and
                not call["miss_pages"] for call in reads), reads)
    exactly("in order: little else", total(reads, "wait_ns") < 0.02 * total(reads, "dur"), reads)


def warm():
    reads = Split("warm").of("read", 16384)
    equal("warm: reads", len(reads), 48)
    equal("warm: asleep for nothing", total(reads, *ASLEEP), 0)


def cold_stat():
    calls = [call for func in ("stat", "lstat", "statx") for call in Split("stat").of(func) if call["dur"] > 10 * MS]
    check_time("a cold stat: is slow", calls, "no such call")
    check_time("a cold stat: asleep for the device", share(calls, "device_ns") > 0.7, shown(calls))
    exactly("a cold stat: most of the time", total(calls, "device_ns") > 0.8 * total(calls, "dur"), calls)


def syncs():
    for way in ("fsync", "fdatasync"):
        run = Split(way)
        calls = run.of(way)
        check(f"{way}: is there", calls, "no such call")
        check_time(f"{way}: asleep for the device", share(calls, "device_ns") > 0.6, shown(calls))
        check(f"{way}: with a flush", any(row["op"] == "flush" for row in run.requests), run.requests)
        exactly(f"{way}: most of the time", total(calls, *ASLEEP) > 0.85 * total(calls, "dur") and
                total(calls, "device_ns") > 0.7 * total(calls, "dur"), calls)
    writes = Split("through").of("write", 4096)
    equal("O_SYNC: writes", len(writes), 2)
    check_time("O_SYNC: asleep for the device", share(writes, "device_ns") > 0.6, shown(writes))
    exactly("O_SYNC: most of the time", total(writes, "device_ns") > 0.7 * total(writes, "dur"), writes)


def fragments():
    run = Split("fragments")
    read = run.of("read", 4 << 20)[0]
    parts = [part for part in run.parts if part["call_id"] == read["call_id"]]
    equal("fragments: every byte has its operation", run.moved_for([read]), 4 << 20)
    check("fragments: many", 64 <= len(parts) < 70, len(parts))
    check_time("fragments: always one of them on the device", share([read], "device_ns") > 0.85 and
          read["device_ns"] > 0.9 * len(parts) * 20 * MS, shown([read]))
    check_time("fragments: so hardly in the queue", read["queue_ns"] < 0.1 * read["dur"], shown([read]))
    longest = max(part["ts_issue"] - part["ts"] for part in parts)
    check_time("fragments: though requests wait long", longest > 300 * MS, longest)
    exactly("fragments: the last one as long as all others take", longest > 1200 * MS, [read])
    exactly("fragments: one after the other", abs(read["device_ns"] - len(parts) * 20.3 * MS) < 0.06 * read["device_ns"] and
            read["queue_ns"] < 0.05 * read["dur"], [read])


def in_the_queue():
    reads = Split("ahead").of("read", 16384)
    check_time("ahead: asleep for device and queue", share(reads, "device_ns", "queue_ns") > 0.8, shown(reads))
    check_time("ahead: longer than a request for its turn to queue", total(reads, "queue_ns") >= 20 * MS, shown(reads))
    exactly("ahead: little else", total(reads, "wait_ns") < 0.02 * total(reads, "dur"), reads)
    run = Split("busy")
    reads = [call for call in run.of("read", 8192) if run.trace.paths.get(call["file_id"]) == "/dev/nullb0"]
    equal("busy: reads", len(reads), 3)
    check_time("busy: asleep for device and queue", share(reads, "device_ns", "queue_ns") > 0.8, shown(reads))
    check_time("busy: longer in the queue than on the device", total(reads, "queue_ns") > total(reads, "device_ns"), shown(reads))
    device = statistics.median(call["device_ns"] for call in reads)
    # Together: on one processor Linux 6.1 has let the first one wait for two seconds and the next one not at all.
    exactly("busy: three others first", total(reads, "queue_ns") > len(reads) * 50 * MS, reads)
    exactly("busy: 20 ms on the device", abs(device - 20.5 * MS) < 0.2 * 20.5 * MS, reads)


assert (OUT / "direct").exists()
for test in (direct, crowded, shared, sequential, warm, cold_stat, syncs, fragments, in_the_queue, *split_ops.TESTS):
    test()
finish("the time of every call is where it went")
