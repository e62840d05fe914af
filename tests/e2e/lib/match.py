# SPDX-License-Identifier: Apache-2.0
"""Finds the system calls that each row of `call` made: those of the same thread between the row's beginning and its
end.

A row of read, pread, open, close and similar calls has exactly one system call, with the same descriptor and the same
result. A row of a buffered function (stdio, directories, temporary files) has those that it made inside. The remainder
on either side is the difference; sort_differences.py explains each of them.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from lib.strace_log import OPENS

READS = ("read", "readv", "pread64", "preadv", "preadv2")
WRITES = ("write", "writev", "pwrite64", "pwritev", "pwritev2")
OPERATION = {**dict.fromkeys(OPENS, "open"), **dict.fromkeys(READS, "read"), **dict.fromkeys(WRITES, "write"),
             "close": "close"}
# Hooked functions that are one system call: name in the table -> names of the call.
DIRECT = {"open": OPENS, "openat": OPENS, "creat": OPENS, "close": ("close",), "read": ("read",), "readv": ("readv",),
          "pread": ("pread64",), "preadv": ("preadv",), "preadv2": ("preadv2", "preadv"), "write": ("write",),
          "writev": ("writev",), "pwrite": ("pwrite64",), "pwritev": ("pwritev",), "pwritev2": ("pwritev2", "pwritev")}
# Hooked functions that make such calls inside libc, and the operations that belong to a row of each. A stream's reads and writes
# belong to a row of their own kind, whatever function caused them.
BUFFERED = {"fopen": ("open",), "freopen": ("open", "close"), "tmpfile": ("open",), "mkstemp": ("open",),
            "opendir": ("open",), "shm_open": ("open",), "scandir": ("open", "close"), "scandirat": ("open", "close"),
            "glob": ("open", "close"), "fclose": ("close",), "pclose": ("close",), "closedir": ("close",),
            **dict.fromkeys(("fread", "fgets", "getline"), ("read",)),
            **dict.fromkeys(("fwrite", "fputs", "fprintf", "fflush"), ("write",))}
READING = ("read", "readv", "pread", "preadv", "preadv2", "fread", "fgets", "getline")
WRITING = ("write", "writev", "pwrite", "pwritev", "pwritev2", "fwrite", "fputs", "fprintf", "fflush")
# The clocks of the two agree within this; a call under strace takes longer.
CLOCK_SLACK_NS = 5_000
FOREVER_NS = 1 << 62


@dataclass
class Matched:
    pairs: list = field(default_factory=list)       # (row, its system calls)
    calls: list = field(default_factory=list)       # system calls that no row made
    rows: list = field(default_factory=list)        # rows of one system call that strace has not seen


class Thread:
    """The system calls of one thread, in order; rows remove theirs."""

    def __init__(self, calls):
        self.calls, self.starts = calls, [call.start_ns for call in calls]
        self.taken = [False] * len(calls)

    def within(self, first_ns, last_ns):
        """(how far outside, place) of those that began between the two, as the clocks have it."""
        at = bisect_left(self.starts, first_ns - CLOCK_SLACK_NS)
        while at < len(self.calls) and self.starts[at] <= last_ns + CLOCK_SLACK_NS:
            if not self.taken[at]:
                yield max(first_ns - self.starts[at], self.starts[at] - last_ns, 0), at
            at += 1

    def take(self, at):
        self.taken[at] = True
        return self.calls[at]


def same_call(row, call):
    """A failed call gives -1 where the kernel gives an error number."""
    returned = -1 if call.ret is not None and call.ret < 0 else call.ret
    return call.name in DIRECT[row.func] and returned == row.ret and (call.name in OPENS or call.fd == row.fd)


def beginnings(rows):
    """When the library call of each row began: the row of a close that flushed first begins where the flush ended."""
    began, flushed = {}, {}
    for row in rows:
        if row.func == "fflush":
            flushed[row.tid, row.end_ns] = row.ts_ns
        began[id(row)] = flushed.get((row.tid, row.ts_ns), row.ts_ns)
    return began


def match_direct(rows, threads, matched):
    for row in rows:
        thread = threads[row.tid]
        window = thread.within(row.ts_ns, row.end_ns)
        found = min(((far, at) for far, at in window if same_call(row, thread.calls[at])), default=None)
        if found is None:
            matched.rows.append(row)
        else:
            matched.pairs.append((row, [thread.take(found[1])]))


def match_buffered(rows, threads, matched):
    """A system call belongs to the row that it is in, or to the one that is nearest in time."""
    began, made, nearest = beginnings(rows), {id(row): [] for row in rows}, {}
    for row in rows:
        thread = threads[row.tid]
        for far, at in thread.within(began[id(row)], row.end_ns):
            here = nearest.get((row.tid, at))
            if OPERATION[thread.calls[at].name] in BUFFERED[row.func] and (here is None or far < here[0]):
                nearest[row.tid, at] = far, row
    for (tid, at), (_, row) in sorted(nearest.items(), key=lambda item: item[0]):
        made[id(row)].append(threads[tid].take(at))
    matched.pairs += [(row, made[id(row)]) for row in rows]


def is_at_exit(row):
    return row.func == "fflush" and row.flags == 1


def match_at_exit(rows, threads, matched):
    """libc writes the bytes of such a row after the row, in one call."""
    for row in rows:
        thread = threads[row.tid]
        later = (at for _, at in thread.within(row.ts_ns, FOREVER_NS)
                 if thread.calls[at].name == "write" and thread.calls[at].fd == row.fd)
        matched.pairs.append((row, [thread.take(at) for at in list(later)[:1]]))


def match(log, rows):
    """`rows`: of the trace's call table."""
    of_thread = defaultdict(list)
    for call in log.syscalls:
        if call.name in OPERATION:
            of_thread[call.tid].append(call)
    threads = defaultdict(lambda: Thread([]), {tid: Thread(calls) for tid, calls in of_thread.items()})
    matched = Matched()
    match_direct([row for row in rows if row.func in DIRECT], threads, matched)
    match_at_exit([row for row in rows if is_at_exit(row)], threads, matched)
    buffered = [row for row in rows if row.func in BUFFERED and not is_at_exit(row)]
    match_buffered(buffered, threads, matched)
    for thread in threads.values():
        matched.calls += [call for call, taken in zip(thread.calls, thread.taken, strict=True) if not taken]
    matched.calls.sort(key=lambda call: call.start_ns)
    return matched


def totals_of_calls(calls):
    """{(pid, path, operation): Counter(count, bytes)} as strace has it."""
    totals = defaultdict(Counter)
    for call in calls:
        operation = OPERATION[call.name]
        moved = call.ret if operation in ("read", "write") and call.ret and call.ret > 0 else 0
        totals[call.pid, call.path, operation].update(count=1, bytes=moved)
    return totals


def totals_of_rows(pairs, prefix):
    """The same from the trace: the process and the path of the row, its bytes, and the number of calls that it covers."""
    totals = defaultdict(Counter)
    for row, calls in pairs:
        if not row.path.startswith(prefix):
            continue
        for operation, funcs in (("read", READING), ("write", WRITING)):
            if row.func in funcs:
                totals[row.pid, row.path, operation].update(bytes=max(row.ret, 0))
        for call in calls:
            totals[row.pid, row.path, OPERATION[call.name]].update(count=1)
    return totals
