# SPDX-License-Identifier: Apache-2.0
"""The hook table, read from its files, and the parts of it that the programs lines_*.c called."""

import errno
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import cache

from lib import case, family
from lib.libc_address import base_of_libc, size_of_libc

FOLDER = case.SOURCE / "runner/events/hooks"
BY_HAND = case.SOURCE / "preload/hooks/raw_hooks.c"  # calls by number that have no line of their own
OWN = re.compile(r"^(?:FUNCTION|HANDMADE|ROW)\(\d+, (\w+),", re.MULTILINE)
CLASSES = re.compile(r"^(?:FUNCTION|HANDMADE|ROW)\(\d+, (\w+), (\w+)", re.MULTILINE)
ROWS = re.compile(r"^ROW\(\d+, (\w+),", re.MULTILINE)
OTHER = re.compile(r"^(?:VARIANT|HANDMADE_VARIANT)\((\w+), (\w+)", re.MULTILINE)
NUMBERS = re.compile(r"^RAW\((SYS_\w+), (\w+),", re.MULTILINE)
NUMBERS_BY_HAND = re.compile(r"^    case (SYS_\w+):", re.MULTILINE)
ALLOCATIONS = re.compile(r"^ALLOCATION\((\w+)\)", re.MULTILINE)
WATCHED = re.compile(r"^WATCHED\((\w+)\)", re.MULTILINE)
OTHER_OPS = {"cfree": "free", "free_sized": "free", "free_aligned_sized": "free"}
FUNCS_BY_HAND = {"SYS_openat2": "openat", "SYS_futex": "futex"}
KINDS = {"PROCESS": "process call", "WAIT": "wait"}  # of the rest: file call
# Beside those of lib/family.py.
OTHER_SYSCALLS = {"posix_openpt": ("openat",), "renameat2": ("renameat2", "renameat"), "closefrom": ("close_range",),
                  "opendir": ("openat",), "closedir": ("close",), "readdir": ("getdents64",), "sem_unlink": ("unlink",)}
OF_MANY_SYSCALLS = {"euidaccess", "fdopendir", "glob", "lchmod", "openpty", "realpath", "sbrk", "scandir", "scandirat", "sem_open"}
MARK = re.compile(r"^/mlrun-line/(\w+)=(\d+)$")
WAITED_NS = 450_000  # victims/lines.h waits for 500 us at least, and measures that from outside of the call
END = "/mlrun-line/-"


@dataclass(frozen=True)
class Line:
    """The rows that a symbol leaves: in `table`, with func or op `name`. table None: none."""
    table: str
    name: str
    via: str = "function"


def lines():
    """{symbol or number: Line}"""
    text = "".join(path.read_text() for path in sorted(FOLDER.glob("*.def")))
    found = {name: Line("call", name) for name in OWN.findall(text)}
    found |= {symbol: Line("call", name) for name, symbol in OTHER.findall(text)}
    found |= {number: Line("call", name, "syscall") for number, name in NUMBERS.findall(text)}
    found |= {number: Line("call", FUNCS_BY_HAND[number], "syscall") for number in NUMBERS_BY_HAND.findall(BY_HAND.read_text())}
    found |= {symbol: Line("alloc", OTHER_OPS.get(symbol, symbol)) for symbol in ALLOCATIONS.findall(text)}
    found |= {symbol: Line(None, symbol) for symbol in WATCHED.findall(text)}
    # Rows that no function has to itself: a call by number has them, or a request's result.
    for name in ROWS.findall(text):
        if any(line.via == "syscall" and line.name == name for line in found.values()):
            del found[name]
    return found


@cache
def kinds():
    """What `loss` calls dropped rows of a function: {func: kind}"""
    return {name: KINDS.get(of, "file call") for path in FOLDER.glob("*.def") for name, of in CLASSES.findall(path.read_text())}


def rows_by_kind(trace):
    """Rows of `call` and `alloc`, by what `loss` calls records of that kind."""
    counts = Counter(kinds()[func] for func in trace.table("call")["func"].to_pylist())
    counts.update("free" if op == "free" else "allocation" for op in trace.table("alloc")["op"].to_pylist())
    return counts


def rows_without_functions():
    return {name for path in FOLDER.glob("*.def") for name in ROWS.findall(path.read_text())}


def imports_of(program):
    """Names that the program takes from its libraries: what it calls by another name is not called."""
    reported = subprocess.run(["nm", "-D", "--undefined-only", program], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in reported.splitlines()}


@dataclass
class Called:
    symbol: str
    wanted: int
    begin_ns: int
    end_ns: int = 0


def called(trace):
    """The rows between the marks (victims/lines.h), in order."""
    found = []
    for mark in trace.calls_of("unlink"):
        begins = MARK.match(mark.path)
        if begins:
            found.append(Called(begins[1], int(begins[2]), mark.end_ns))
        elif mark.path == END:
            found[-1].end_ns = mark.ts_ns
    return found


def syscalls_of(line, symbol):
    """Names of the one system call that each call of this line makes; nothing: it makes none or several, or is a wait, which
    victims repeat until it waited."""
    if kinds().get(line.name) == "wait":
        return ()
    if line.via == "syscall":
        return (symbol.removeprefix("SYS_"),)
    if line.table != "call" or line.name in OF_MANY_SYSCALLS or line.name.startswith(("aio_", "lio_")):
        return ()
    return OTHER_SYSCALLS.get(line.name, family.names_of(line.name))


def windows_in(log, pid):
    """System calls that libc made between the marks, in order, as called() has them."""
    own = [call for call in log.syscalls if call.pid == pid]
    marks = [at for at, call in enumerate(own) if call.name == "unlink" and '"/mlrun-line' in call.text]
    base = base_of_libc("unlink", own[marks[0]].address)
    return [[call for call in own[begin + 1:end] if 0 <= call.address - base < size_of_libc()]
            for begin, end in zip(marks[::2], marks[1::2], strict=True)]


def rows_of(trace, line, reported):
    """Rows of that line between its marks, in all processes. For waits, only those on the victim's object or cancelled ones: a
    thread that ends a wait may block in a call of the same name, and then has a row too."""
    if line.table == "alloc":
        return [row for row in trace.rows("alloc") if row["op"] == line.name and reported.begin_ns <= row["ts"] < reported.end_ns]
    if line.table == "call":
        rows = [call for call in trace.calls if call.func == line.name and call.via == line.via
                and reported.begin_ns <= call.ts_ns < reported.end_ns]
        return [row for row in rows if kinds()[row.func] != "wait" or row.end_ns - row.ts_ns > WAITED_NS or row.err == errno.ECANCELED]
    return []
