# SPDX-License-Identifier: Apache-2.0
"""Finds, for each system call without a row in the trace, the rule that explains it, and the evidence.

A rule is a function of (call, context): the evidence as text, or None where the rule does not apply. Each is narrow: it
names files, a process or a moment. The first that applies counts; a call that none explains is a lost event. The reads
and the close of a descriptor that libc, ld.so or mlrun's library opened for itself have the rule of its open.
"""

import re
from collections import defaultdict
from pathlib import Path

from lib.match import OPENS, OPERATION

OUR_PROGRAMS = ("mlrun", "mlrun-trace", "mlrun-bench-loops")
SHARED_OBJECT = re.compile(r"\.so(\.[0-9.]+)?$")
LOADER_FILES = ("/etc/ld.so.cache", "/etc/ld.so.preload")
LOADER_FLAGS = "O_RDONLY|O_CLOEXEC"
LOADER_HEADER = re.compile(r'"\\177ELF.*, 832$')      # read into the buffer that ld.so has for it
LOADER_DETAIL = re.compile(r", (\d+), \d+$")          # pread of program headers, 56 bytes each, or of a short note
# libc opens these for setlocale, iconv and tzset, for getpwnam, getaddrinfo and their like.
LOCALE = re.compile(r"/usr/lib/locale/|/usr/share/locale/|/etc/locale\.alias$|/usr/share/locale-langpack/|"
                    r"/usr/lib/x86_64-linux-gnu/gconv/gconv-modules|/usr/share/zoneinfo/|/etc/localtime$")
NAME_SERVICE = re.compile(r"/etc/(nsswitch|resolv|host|gai)\.conf$|/etc/(passwd|group|hosts|services|protocols)$")
# The cache daemon, a name server, or an address whose route getaddrinfo wants to know.
NAME_SERVICE_PEER = re.compile(r'"/var/run/nscd/socket"|sin6?_port=htons\((53|0)\)|AF_UNSPEC|AF_NETLINK')
# Files that one of libc's own functions reads, and the function.
INSIDE_LIBC = {"/sys/devices/system/cpu/possible": "get_nprocs_conf", "/sys/devices/system/cpu/online": "get_nprocs",
               "/proc/meminfo": "qsort", "/proc/sys/vm/overcommit_memory": "free", "/proc/loadavg": "getloadavg",
               "/sys/kernel/mm/transparent_hugepage/enabled": "malloc", "/proc/self/maps": "pthread_getattr_np"}
# What our library reads of /proc/PID by system calls of its own: when it is loaded, and when the process ends or execs.
READ_AT_LOAD, READ_AT_END = ("status", "stat", "cgroup", "cmdline"), ("io",)
# Before an exec the library reads the program's header and names, to decide whether it can be loaded there, and opens itself and
# the arena.
TARGET_FLAGS, TARGET_READ = "O_RDONLY|O_NOCTTY|O_NONBLOCK|O_CLOEXEC", re.compile(r", (1024|255|63|\d{1,3}), \d+$")
NEW_SEMAPHORE, NEW_SEMAPHORE_FLAGS = re.compile(r"/dev/shm/sem\.[A-Za-z0-9]{6}$"), "O_RDWR|O_CREAT|O_EXCL, 0"
SEMAPHORE_FLAGS = "O_RDWR|O_NOFOLLOW"
SHARED_MEMORY = re.compile(r"/dev/shm/[^/]+$")
STREAM_OPENS, STREAM_CLOSES = ("fopen", "fdopen", "freopen", "tmpfile"), ("fclose", "pclose")


class Context:
    """What rules may use about a call: its image, the open of its descriptor, and the rows of the trace around it."""

    def __init__(self, log, trace, matched):
        self.log, self.arena = log, trace.arena_path
        self.uses = defaultdict(list)  # id of an open -> the calls on its descriptor
        self.opening = self.follow_descriptors()
        self.last_of_thread = {call.tid: call for call in log.syscalls}
        self.row_of = {id(call): row for row, calls in matched.pairs for call in calls}
        self.loads = self.times_of_load(trace)
        self.streams = self.lives_of_streams(trace.calls)
        # (pid, image) -> when our library read the process's counters: it does so when the process ends or execs.
        self.ends = {(call.pid, call.image): call.start_ns for call in log.syscalls
                     if call.name in OPENS and call.path == f"/proc/{call.pid}/io" and id(call) not in self.row_of}

    def follow_descriptors(self):
        """{id of a call: the open of its descriptor, if the same process made it and the path is still the same}."""
        def gives_descriptor(call):
            return call.name in OPENS or call.name == "socket"

        opened, opening = {}, {}
        # Another thread may close a number after the open that will get it has begun.
        for call in sorted(self.log.syscalls, key=lambda call: gives_descriptor(call) and call.end_ns or call.start_ns):
            key = call.pid, call.fd
            if gives_descriptor(call):
                if call.ret is not None and call.ret >= 0:
                    opened[key] = call
            elif key in opened and opened[key].path == call.path:
                opening[id(call)] = opened[key]
                self.uses[id(opened[key])].append(call)
                if call.name == "close":
                    del opened[key]
        return opening

    @staticmethod
    def lives_of_streams(rows):
        """{(pid, fd): [first and last time] of each stream that was on it}."""
        lives = defaultdict(list)
        for row in rows:
            if row.func in STREAM_OPENS:
                lives[row.pid, row.fd].append([row.end_ns, float("inf")])
            elif row.func in STREAM_CLOSES and lives[row.pid, row.fd]:
                lives[row.pid, row.fd][-1][1] = row.ts_ns
        return lives

    def times_of_load(self, trace):
        """{(pid, image): when our library began to record there}. Images that never did are not in it."""
        pids = {row["proc_id"]: row["pid"] for row in trace.rows("process")}
        loads = {}
        for row in trace.rows("image"):
            process = self.log.processes.get(pids[row["proc_id"]])
            start_ns = row["first"]
            if process:
                image = sum(began_ns <= start_ns for began_ns, _ in process.execs)
                loads.setdefault((process.pid, image), start_ns)
        return loads

    def process(self, call):
        return self.log.processes[call.pid]

    def program(self, call):
        return Path(self.process(call).program(call.image)).name

    def made_by(self, call):
        """The open of a call: itself, or the one of its descriptor, or None."""
        return call if call.name in OPENS else self.opening.get(id(call))


def mlruns_own_programs(call, context):
    if context.program(call) in OUR_PROGRAMS:
        return f"made by {context.program(call)}"
    process = context.process(call)
    parent = context.log.processes.get(process.parent)
    if call.image == 0 and parent and not parent.execs:   # the witness of its process group is a child of the guard
        parent = context.log.processes.get(parent.parent)
    if call.image == 0 and parent and parent.execs and Path(parent.program(1)).name == "mlrun" and parent.origin == "first":
        return "made by mlrun between its fork and the exec of the command"
    return None


def vfork_child(call, context):
    process = context.process(call)
    if process.origin == "vfork" and call.image == 0:
        return f"process {process.pid} shares its parent's memory until it execs"
    return None


def mlruns_own_files(call, context):
    opening = context.made_by(call)
    if opening is None or id(opening) in context.row_of:
        return None
    folder, _, name = opening.path.rpartition("/")
    loaded = call.start_ns > context.loads.get((call.pid, call.image), 0)
    if opening.path == context.arena and not loaded:
        return "the arena, mapped at load"
    if folder == f"/proc/{call.pid}" and name in (READ_AT_END if loaded else READ_AT_LOAD):
        return f"our library reads {opening.path} at {'the end' if loaded else 'load'}"
    reads = [other for other in context.uses[id(opening)] if OPERATION.get(other.name) == "read"]
    if loaded and not reads and (opening.path == context.arena or opening.path.endswith("/lib/libmlrun_preload.so")):
        return f"our library tries whether {opening.path} can be opened, before an exec"
    if TARGET_FLAGS in opening.text and all(TARGET_READ.search(other.text) for other in reads):
        return f"our library looks at {opening.path} before an exec"
    return None


def loaders_pattern(call, context):
    opening = context.made_by(call)
    if opening is None or id(opening) in context.row_of or LOADER_FLAGS not in opening.text:
        return None
    if opening.path in LOADER_FILES:
        return opening.path
    reads = [other for other in context.uses[id(opening)] if OPERATION.get(other.name) == "read"]
    as_loader = all(map(is_loaders_read, reads)) and (reads or opening.ret < 0)
    return f"header of {opening.path}" if SHARED_OBJECT.search(opening.path) and as_loader else None


def is_loaders_read(call):
    if call.name == "read":
        return LOADER_HEADER.search(call.text)
    size = int(LOADER_DETAIL.search(call.text).group(1)) if call.name == "pread64" else 0
    return size and (size % 56 == 0 or size <= 128)


def before_our_first_hook(call, context):
    load_ns = context.loads.get((call.pid, call.image))
    if call.image and load_ns and call.start_ns < load_ns and loaders_pattern(call, context):
        return f"{(load_ns - call.start_ns) / 1e6:.1f} ms before our library began: {loaders_pattern(call, context)}"
    return None


def dynamic_loader(call, context):
    pattern = loaders_pattern(call, context)
    return pattern and f"opened by ld.so for dlopen: {pattern}"


def locale_and_name_service(call, context):
    opening = context.made_by(call)
    if opening is None or id(opening) in context.row_of:
        return None
    if LOCALE.match(opening.path) or NAME_SERVICE.match(opening.path):
        return f"libc reads {opening.path}"
    connects = [other.text for other in context.uses[id(opening)] if other.name == "connect"]
    if call.name == "close" and opening.name == "socket" and "SOCK_CLOEXEC" in opening.text:
        if all(map(NAME_SERVICE_PEER.search, connects)) and (connects or "AF_NETLINK" in opening.text):
            return f"a socket of getaddrinfo: {opening.text} {connects[:1]}"
    return None


def inside_libc(call, context):
    opening = context.made_by(call)
    if opening is None or id(opening) in context.row_of:
        return None
    function = INSIDE_LIBC.get(opening.path.replace(f"/proc/{call.pid}/", "/proc/self/"))
    if function:
        return f"{function}() of libc reads {opening.path}"
    if SHARED_MEMORY.match(opening.path) and opening.text.endswith(SEMAPHORE_FLAGS):
        return f"sem_open() of libc opens {opening.path}"
    if NEW_SEMAPHORE.match(opening.path) and NEW_SEMAPHORE_FLAGS in opening.text:
        return f"sem_open() of libc makes {opening.path}"
    return None


def inside_stdio(call, context):
    """A function that is not hooked (getc, scanf) has refilled a buffer, or the end of the process has flushed it."""
    if call.name not in ("read", "write"):
        return None
    if any(first <= call.start_ns <= last for first, last in context.streams.get((call.pid, call.fd), ())):
        return f"a stream is on descriptor {call.fd}"
    if call.name == "write" and call.start_ns > context.ends.get((call.pid, call.image), call.start_ns):
        return "flushed by exit() after our library's end"
    return None


def killed_inside(call, context):
    if call.ret is None and context.process(call).killed_by:
        return f"never returned: the process was ended by {context.process(call).killed_by}"
    return None


def ended_before_its_record(call, context):
    """exit_group came while the thread was in the call or before it ran again: it made no later call, not even its exit."""
    ended = context.process(call).exit_status is not None
    if ended and call.tid != call.pid and context.last_of_thread[call.tid] is call:
        return f"the last call of thread {call.tid}, which another one ended with the process"
    return None


RULES = (mlruns_own_programs, vfork_child, mlruns_own_files, before_our_first_hook, dynamic_loader,
         locale_and_name_service, inside_libc, inside_stdio, killed_inside,
         ended_before_its_record)


def sort_differences(calls, context):
    """{rule name: [(call, evidence)]}; calls that no rule explains are under ''."""
    found = {}
    for call in calls:
        evidence = next(((rule.__name__, text) for rule in RULES if (text := rule(call, context))), ("", ""))
        found.setdefault(evidence[0], []).append((call, evidence[1]))
    return found
