# SPDX-License-Identifier: Apache-2.0
"""Reads a log of `strace -f -i -y --absolute-timestamps=unix,ns -T -o FILE` into processes and system calls.

Every line is parsed: one that cannot be parsed is an error, since a lost line would be a lost read. A
call that strace shows in two halves (unfinished, resumed) is one Syscall. A thread belongs to the process whose clone
made it.
"""

import re
from dataclasses import dataclass, field

OPTIONS = ("-f", "-i", "-y", "-s", "16", "--absolute-timestamps=format:unix,precision:ns", "-T", "--seccomp-bpf", "-e",
           "trace=open,openat,openat2,creat,read,readv,pread64,preadv,preadv2,write,writev,pwrite64,pwritev,pwritev2,"
           "close,socket,connect,%process")
OPENS = ("open", "openat", "openat2", "creat")

FRAME = re.compile(r" > (?:.*/)?([^/(]+?)\(.*\) \[")
LINE = re.compile(r"(\d+) +(\d+)\.(\d{9}) \[([0-9a-f]+|\?+)\] (.*)")
CALL = re.compile(r"(\w+)\((.*)")
DONE = re.compile(r"(.*)\) += (0x[0-9a-f]+|-?\d+|\?)(.*?)(?: <(\d+)\.(\d+)>)?$", re.DOTALL)
RESUMED = re.compile(r"<\.\.\. (\w+) resumed>(.*)")
DESCRIPTOR = re.compile(r"(AT_FDCWD|-?\d+)(?:<((?:[^<>\\]|\\.)*)>(\(deleted\))?)?")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
ERRNO = re.compile(r" (E[A-Z0-9]+)")
ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|[0-7]{1,3}|.)")
NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f", b'"': b'"', b"\\": b"\\"}


@dataclass
class Syscall:
    pid: int
    tid: int
    name: str
    text: str                 # arguments as strace shows them
    start_ns: int             # at entry
    end_ns: int | None = None     # None: never returned
    ret: int | None = None
    err: str = ""
    fd: int | None = None     # first argument, or the result of an open
    path: str = ""            # the kernel's name; for a failed open the argument, made absolute
    image: int = 0            # number of execs of the process before it
    address: int = 0          # of the instruction behind the system call
    stack: list = field(default_factory=list)   # with -k: file names of the objects on the stack, innermost first


@dataclass
class Process:
    pid: int
    parent: int = 0
    origin: str = "first"     # fork, vfork (shares memory until exec), first
    start_ns: int = 0
    execs: list = field(default_factory=list)   # (time, program) of each exec that worked
    threads: set = field(default_factory=set)
    killed_by: str = ""
    exit_status: int | None = None
    end_ns: int | None = None

    def program(self, image):
        return self.execs[image - 1][1] if 0 < image <= len(self.execs) else ""


@dataclass
class Log:
    processes: dict
    syscalls: list


def unescape(text):
    def one(match):
        code = match.group(1)
        if code[:1] == b"x":
            return bytes([int(code[1:], 16)])
        return bytes([int(code, 8)]) if code[:1].isdigit() else NAMED.get(code, code)
    return ESCAPE.sub(one, text.encode()).decode("utf-8", "surrogateescape")


def named_path(text):
    """The path argument of an open that failed, absolute where strace shows the folder it is relative to."""
    quoted = QUOTED.search(text)
    if not quoted:
        return ""
    path = unescape(quoted.group(1))
    folder = DESCRIPTOR.match(text)
    if path.startswith("/") or not folder or not folder.group(2):
        return path
    return unescape(folder.group(2)) + "/" + path


class Reader:
    def __init__(self, from_realtime):
        self.from_realtime = from_realtime
        self.processes, self.syscalls = {}, []
        self.waiting = {}     # tid -> Syscall shown as unfinished
        self.parents = {}     # tid of a new task -> (tid of its maker, fork, vfork or thread, time)
        self.seen = {}        # tid -> time of its first line
        self.latest = None    # the call that finished last: the stack that follows is its

    def line(self, text):
        if text.startswith(" > "):
            frame = FRAME.match(text)
            self.latest.stack.append(frame.group(1) if frame else "?")
            return
        match = LINE.fullmatch(text)
        if not match:
            raise ValueError(f"not a line of strace: {text!r}")
        tid, rest = int(match.group(1)), match.group(5)
        now = self.from_realtime(int(match.group(2)) * 10**9 + int(match.group(3)))
        self.seen.setdefault(tid, now)
        resumed, call = RESUMED.fullmatch(rest), CALL.match(rest)
        if rest.startswith("???("):  # the thread was killed before strace could read which call it is in
            return
        if rest.startswith(("+++ ", "--- ")):
            self.syscalls.append(Syscall(0, tid, rest[:3], rest[4:-4], now))
        elif resumed:
            started = self.waiting.pop(tid)
            self.finish(started, started.text + resumed.group(2))
        elif call:
            started = Syscall(0, tid, call.group(1), "", now, address=int(match.group(4).replace("?", "0"), 16))
            self.syscalls.append(started)
            if rest.endswith(" <unfinished ...>"):
                started.text = call.group(2)[:-len(" <unfinished ...>")]
                self.waiting[tid] = started
            elif rest.endswith(" <unfinished ...>) = ?"):
                started.text = call.group(2)[:-len(" <unfinished ...>) = ?")]
            else:
                self.finish(started, call.group(2))
        else:
            raise ValueError(f"not a call, signal or exit: {text!r}")

    def finish(self, call, text):
        done = DONE.fullmatch(text)
        if not done:
            raise ValueError(f"not a finished call: {call.name}({text!r}")
        self.latest = call
        call.text, result, tail = done.group(1), done.group(2), done.group(3)
        if done.group(4):
            call.end_ns = call.start_ns + int(done.group(4)) * 10**9 + int(done.group(5).ljust(9, "0"))
        if result == "?":
            return
        call.ret = int(result, 0)
        failed = ERRNO.match(tail)
        call.err = failed.group(1) if failed and call.ret < 0 else ""
        if call.name in ("clone", "clone3", "fork", "vfork") and call.ret > 0:
            shared = "CLONE_THREAD" in call.text
            kind = "thread" if shared else "vfork" if "CLONE_VFORK" in call.text or call.name == "vfork" else "fork"
            self.parents[call.ret] = (call.tid, kind, call.start_ns)
        elif call.name in (*OPENS, "socket") and call.ret >= 0:
            call.fd = call.ret
            call.path = unescape(DESCRIPTOR.match(f"{call.ret}{tail}").group(2) or "")

    def leader(self, tid):
        while tid in self.parents and self.parents[tid][1] == "thread":
            tid = self.parents[tid][0]
        return tid

    def name_file(self, call):
        if call.name in OPENS:
            call.path = call.path or named_path(call.text)
        if call.name in (*OPENS, "socket"):
            return
        first = DESCRIPTOR.match(call.text)
        if first and first.group(1) != "AT_FDCWD":
            call.fd, call.path = int(first.group(1)), unescape(first.group(2) or "")

    def finish_log(self):
        for tid in self.seen:
            pid = self.leader(tid)
            process = self.processes.setdefault(pid, Process(pid, start_ns=self.seen[pid]))
            process.threads.add(tid)
            if tid == pid and tid in self.parents:
                maker, process.origin, _ = self.parents[tid]
                process.parent = self.leader(maker)
        calls = []
        for call in sorted(self.syscalls, key=lambda item: item.start_ns):
            process = self.processes[self.leader(call.tid)]
            call.pid, call.image = process.pid, len(process.execs)
            if call.name == "+++":
                self.end(process, call)
            elif call.name == "execve" and call.ret == 0:
                process.execs.append((call.start_ns, unescape(QUOTED.search(call.text).group(1))))
            elif call.name != "---":
                self.name_file(call)
                calls.append(call)
        return Log(self.processes, calls)

    @staticmethod
    def end(process, call):
        if call.tid != process.pid:
            return
        process.end_ns = call.start_ns
        if call.text.startswith("killed by "):
            process.killed_by = call.text.split()[2]
        elif call.text.startswith("exited with "):
            process.exit_status = int(call.text.split()[2])


def read_log(path, trace):
    """Reads a log, with times converted to those of `trace`, which was recorded in the same run."""
    reader = Reader(trace.from_realtime)
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for text in file:
            reader.line(text.rstrip("\n"))
    return reader.finish_log()
