# SPDX-License-Identifier: Apache-2.0
"""Compares the rows of random programs (victims/random_calls.c) with strace of the same run.

Both logs are cut at the marks, and each step is compared: bytes, results, paths, and the offsets that the trace claims.
The kernel's positions are derived here from strace's log: descriptors, positions, sizes of files.
"""

import re
import shutil
import sys
from collections import defaultdict
from dataclasses import dataclass, field

from lib import case

CALLS = ("openat,read,pread64,readv,preadv,preadv2,write,pwrite64,writev,pwritev,pwritev2,lseek,dup,dup2,dup3,fcntl,ftruncate,"
         "close,clone")
LINE = re.compile(r"(\d+) +(\w+)\((.*?)\)? += (-?\d+|0x[0-9a-f]+)(?:<(.*?)>)?(?: (E\w+).*| \(.*)?$")
DESCRIPTOR = re.compile(r"(-?\d+)(?:<([^>]*)>)?")
READS = ("read", "pread64", "readv", "preadv", "preadv2")
WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2")
ROW_READS = ("read", "pread", "readv", "preadv", "preadv2", "fread", "fgets", "getline")
ROW_WRITES = ("write", "pwrite", "writev", "pwritev", "pwritev2", "fwrite", "fputs", "fprintf", "fflush")
STDIO = ("fread", "fgets", "getline", "fwrite", "fputs", "fprintf", "fflush")
SEEKS = ("lseek", "fseek")
PROGRAMS_AT_ONCE = 500


@dataclass
class OpenFile:
    path: str
    appends: bool
    position: int = 0


@dataclass
class Transfer:
    direction: str
    path: str
    offset: int
    bytes: int


@dataclass
class Step:
    number: int
    transfers: list = field(default_factory=list)
    results: list = field(default_factory=list)    # of calls on descriptors that move bytes, in order


class Follower:
    """Steps of each process, from the lines of strace. A child runs while its parent waits."""

    def __init__(self):
        self.steps, self.open, self.sizes, self.begun = defaultdict(list), {}, defaultdict(int), {}
        self.latest = None

    def line(self, text):
        if text.endswith("+++") or "exit_group" in text:
            return
        if "<unfinished" in text:  # a call of the other process comes in between
            self.begun[text.split()[0]] = text[:text.index("<unfinished")].rstrip()
            return
        if "resumed>" in text:
            text = self.begun.pop(text.split()[0]) + text[text.index("resumed>") + len("resumed>"):]
        match = LINE.match(text)
        if not match:
            raise ValueError(f"not a line of strace: {text!r}")
        pid, name, arguments, ret = int(match[1]), match[2], match[3], int(match[4], 0)
        if pid not in self.open:
            self.open[pid] = dict(self.open.get(self.latest, {}))
        self.latest = pid
        self.call(pid, name, arguments, ret, match[5])

    def call(self, pid, name, arguments, ret, made):
        opened, first = self.open[pid], DESCRIPTOR.match(arguments)
        fd = int(first[1]) if first else -1
        if name == "lseek" and fd == -1:
            self.steps[pid].append(Step(int(arguments.split(",")[1])))
        elif name == "openat" and ret >= 0 and made.startswith("/proc/"):
            opened.pop(ret, None)  # of the library's own
        elif name == "openat" and ret >= 0:
            opened[ret] = OpenFile(made, "O_APPEND" in arguments)
            if "O_TRUNC" in arguments:
                self.sizes[made] = 0
        elif name in ("dup", "fcntl") and ("F_DUPFD" in arguments or name == "dup") and ret >= 0:
            opened[ret] = opened.get(fd)
        elif name in ("dup2", "dup3") and ret >= 0:
            opened[ret] = opened.get(fd)
        elif name == "close" and ret == 0:
            opened.pop(fd, None)
        elif fd in opened and opened[fd]:
            self.on_file(pid, name, arguments, ret, opened[fd])

    def on_file(self, pid, name, arguments, ret, file):
        if name == "lseek" and ret >= 0:
            file.position = ret
        elif name == "fcntl" and "F_SETFL" in arguments and ret == 0:
            file.appends = "O_APPEND" in arguments
        elif name == "ftruncate" and ret == 0:
            self.sizes[file.path] = int(arguments.rsplit(",", 1)[1])
        elif name in READS or name in WRITES:
            self.transfer(pid, name, arguments, ret, file)

    def transfer(self, pid, name, arguments, ret, file):
        parts = arguments.rsplit(", ", 2)
        at, appends = None, file.appends
        if name in ("pread64", "pwrite64", "preadv", "pwritev"):
            at = int(parts[2])
        if name in ("preadv2", "pwritev2"):
            at = None if int(parts[1]) == -1 else int(parts[1])
            appends = appends or "RWF_APPEND" in parts[2]
        reads = name in READS
        offset = file.position if at is None else at
        if not reads and appends:
            offset = self.sizes[file.path]
        if not self.steps[pid]:
            return
        step = self.steps[pid][-1]
        step.results.append(max(ret, -1))
        if ret > 0:
            step.transfers.append(Transfer("read" if reads else "write", file.path, offset, ret))
        if at is None and ret > 0:
            file.position = offset + ret
        if not reads and ret > 0:
            self.sizes[file.path] = max(self.sizes[file.path], offset + ret)


def followed(log):
    follower = Follower()
    with open(log, encoding="utf-8", errors="replace") as file:
        for text in file:
            follower.line(text.rstrip("\n"))
    return follower.steps


@dataclass
class Row:
    func: str
    path: str
    offset: int | None
    ret: int
    ts: int
    dur: int
    err: int


def steps_of_rows(rows):
    """rows: of one process, in the order of the table; marks are seeks on no descriptor."""
    steps = []
    for row in rows:
        if row.func == "lseek" and row.err and row.offset is not None and not row.path:
            steps.append((row.offset, []))
        elif steps:
            steps[-1][1].append(row)
    return steps


def transfers_of(rows):
    for row in rows:
        direction = "read" if row.func in ROW_READS else "write" if row.func in ROW_WRITES else None
        if direction and row.ret > 0:
            yield direction, row


def fault_of_step(truth, rows):
    """What is wrong with the rows of a step, or None."""
    left = defaultdict(list)
    for transfer in truth.transfers:
        left[transfer.direction, transfer.path].append(transfer)
    for direction, row in transfers_of(rows):
        queue, first, moved = left[direction, row.path], None, 0
        while queue and moved < row.ret:
            transfer = queue.pop(0)
            first, moved = first or transfer, moved + transfer.bytes
        if moved != row.ret:
            return f"{row.func} of {row.ret} bytes of {row.path}, strace has {moved}"
        if row.offset is not None and row.offset != first.offset:
            return f"{row.func} at {row.offset}, strace at {first.offset}"
    missing = [transfer for queue in left.values() for transfer in queue]
    if missing:
        return f"no row for {missing}"
    plain = [row.ret for row in rows if row.func in ROW_READS + ROW_WRITES and row.func not in STDIO]
    if plain and not any(row.func in STDIO + SEEKS for row in rows) and plain != truth.results:
        return f"results {plain}, strace has {truth.results}"
    return None


def overlaps(rows):
    """Rows of one thread that begin before the one before them ended."""
    ordered = sorted(rows, key=lambda row: (row.ts, row.ts + row.dur))
    return [(a, b) for a, b in zip(ordered, ordered[1:]) if b.ts < a.ts + a.dur]


def faults(log, rows_of_process):
    """Faults of all steps; the number of rows that move bytes, and how many of them have an offset."""
    truth, found, placed, moving = followed(log), [], 0, 0
    for pid, rows in rows_of_process.items():
        found += [(pid, 0, f"overlap: {pair}") for pair in overlaps(rows)]
        mine = steps_of_rows(rows)
        numbers = [step.number for step in truth[pid]]
        if [abs(number) for number, _ in mine] != [abs(number) for number in numbers]:
            found.append((pid, 0, f"steps {len(mine)}, strace has {len(numbers)}"))
            continue
        for step, (_, of_step) in zip(truth[pid], mine):
            moved = [row for _, row in transfers_of(of_step)]
            moving, placed = moving + len(moved), placed + sum(row.offset is not None for row in moved)
            if step.number < 0:
                continue  # moves bytes that are not recorded
            if fault := fault_of_step(step, of_step):
                found.append((pid, step.number, fault))
    return found, placed, moving


def run_some(this, seed, programs):
    case.need_program("strace")
    folder = this.path("files")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    log = this.path("strace.log")
    trace = this.trace(
        "strace", "-f", "-y", "-s", "0", "-e", "signal=none", "-e", "trace=" + CALLS, "-o", log,
        this.victim("random_calls"), seed, programs, folder,
        options=("--lossless", "--exclude", str(log), "--exclude", "/proc/*"), timeout=600)
    of_process = defaultdict(list)
    for row in trace.rows("call"):
        of_process[row["pid"]].append(Row(row["func"], trace.paths.get(row["file_id"], ""), row["offset"],
                                                       row["ret"], row["ts"], row["dur"], row["err"]))
    shutil.rmtree(trace.folder)
    return faults(log, of_process)


def expect_agreement(this, seed, programs):
    """Programs of so many seeds from `seed` on. More may be asked for on the command line: the first seed and their number."""
    if len(sys.argv) > 2:
        seed, programs = int(sys.argv[1]), int(sys.argv[2])
    placed = moving = 0
    for first in range(seed, seed + programs, PROGRAMS_AT_ONCE):
        faults, with_offset, moved = run_some(this, first, min(PROGRAMS_AT_ONCE, seed + programs - first))
        this.equal(f"steps that are wrong, from seed {first} on", faults[:5], [])
        placed, moving = placed + with_offset, moving + moved
    print(f"{programs} programs; {placed} of {moving} rows that move bytes have an offset")
    this.true("most rows have an offset, or would be right by having none", placed > moving / 3, (placed, moving))
