# SPDX-License-Identifier: Apache-2.0
"""Victims that report each call that they have issued (victims/issue.h), and the calls that a trace has.

A thread may be killed between a call's record and its own count of that call, or inside the call: then what is recorded
is one more, or one less for a call that was not to be finished.
"""

import struct
from collections import Counter
from dataclasses import dataclass

SLOT = struct.Struct("6q")
SLOTS = 16384
# As in victims/issue.h: no other block of a victim has this size. glibc gives it 792 usable bytes, of the class from 784.
SIZE, USABLE, CLASS = 777, 792, 784
WHAT = ("preads", "mallocs", "frees", "lseeks")


@dataclass
class Issued:
    threads: Counter  # by (pid, tid, what)

    def total(self):
        return sum(self.threads.values())


def run(case, victim, *arguments, options=(), status=0, **more):
    """The victim's trace, and what it issued."""
    progress = case.path("progress")
    progress.write_bytes(bytes(SLOT.size * SLOTS))
    trace = case.trace(case.victim(victim), case.data_file(), progress, *arguments, options=options, status=status, **more)
    return trace, read(progress)


def read(progress):
    threads = Counter()
    for pid, tid, *counts in SLOT.iter_unpack(progress.read_bytes()):
        for what, count in zip(WHAT, counts, strict=True):
            if count:
                threads[pid, tid, what] += count  # thread numbers are reused
    return Issued(threads)


def recorded_calls(trace, data):
    found = Counter()
    files = {number for number, path in trace.paths.items() if path == data}
    for row in trace.rows("call"):
        if row["file_id"] in files and row["func"] in ("pread", "lseek"):
            found[row["pid"], row["tid"], row["func"] + "s"] += 1
    return found


def listed_allocations(trace):
    found = Counter()
    for row in trace.rows("alloc"):
        if (row["op"], row["size"]) == ("malloc", SIZE):
            found[row["pid"], row["tid"], "mallocs"] += 1
        if (row["op"], row["size"]) == ("free", USABLE):
            found[row["pid"], row["tid"], "frees"] += 1
    return found


def counted_allocations(trace):
    found = Counter()
    for row in trace.rows("alloc_small"):
        if row["class_bytes"] == CLASS:
            found[row["pid"], row["tid"], "mallocs"] += row["mallocs"]
            found[row["pid"], row["tid"], "frees"] += row["frees"]
    return found


def expect_exact(case, recorded, issued, killed=0):
    """Everything is recorded once; for each of `killed` threads, one call beyond the reported ones may be recorded."""
    differing = {key: (recorded[key], issued.threads[key]) for key in recorded.keys() | issued.threads.keys()
                 if recorded[key] != issued.threads[key]}
    case.true("recorded and issued differ", len(differing) <= killed, dict(list(differing.items())[:5]))
    case.true("by more than the call in progress", all(abs(a - b) <= 1 for a, b in differing.values()), differing)
    case.true("something was issued", issued.total() > 0)


def expect_lossless(case, victim, *arguments, killed=0, status=0, options=()):
    """--lossless --alloc-min 0: each call, each allocation, each free. The trace."""
    trace, issued = run(case, victim, *arguments, options=("--lossless", "--alloc-min", "0", *options), status=status)
    expect_exact(case, recorded_calls(trace, case.data_file()) + listed_allocations(trace), issued, killed)
    case.equal("dropped records", trace.dropped(), 0)
    return trace


def expect_counted(case, victim, *arguments, killed=0, status=0):
    """At the default threshold: each call, and counters that equal what was issued. A busy machine may not drain the calls in
    time, so they wait."""
    trace, issued = run(case, victim, *arguments, options=("--lossless",), status=status)
    case.equal("dropped records", trace.dropped(), 0)
    expect_exact(case, recorded_calls(trace, case.data_file()) + counted_allocations(trace), issued, killed)
