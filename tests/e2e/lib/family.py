# SPDX-License-Identifier: Apache-2.0
"""Compares a victim's calls between its two marks with strace: the rows of `call` and the system calls of libc must
be the same sequence, with the same results and bytes.

A row has one system call, or several that libc makes for it, the last of which has the row's result. System calls of
mlrun's library have addresses outside libc and are ignored.
"""

import errno

from lib import case, strace_log
from lib.libc_address import base_of_libc, size_of_libc
from lib.trace import Trace

MARKS = "/mlrun-test-begins", "/mlrun-test-ends"
# Hooked functions whose system call has another name, or one of several.
OTHER_NAMES = {
    "open": ("openat", "open"), "openat": ("openat", "openat2"), "creat": ("openat", "creat"), "stat": ("newfstatat", "stat"),
    "lstat": ("newfstatat", "lstat"), "fstat": ("newfstatat", "fstat"), "fstatat": ("newfstatat",), "pread": ("pread64",),
    "pwrite": ("pwrite64",), "access": ("access", "faccessat"), "faccessat": ("faccessat", "faccessat2"),
    "euidaccess": ("newfstatat", "faccessat2", "access"), "chmod": ("chmod", "fchmodat"), "utime": ("utime", "utimensat"),
    "utimes": ("utimes", "utimensat"), "lutimes": ("utimensat",), "futimes": ("utimensat",), "futimesat": ("futimesat", "utimensat"),
    "futimens": ("utimensat",), "mknod": ("mknod", "mknodat"), "mkfifo": ("mknod", "mknodat"), "mkfifoat": ("mknodat",),
    "mkdtemp": ("mkdir", "mkdirat"), "remove": ("unlink", "unlinkat", "rmdir"), "statvfs": ("statfs",), "fstatvfs": ("fstatfs",),
    "posix_fallocate": ("fallocate",), "posix_fadvise": ("fadvise64",), "posix_madvise": ("madvise",), "pkey_mprotect": ("pkey_mprotect", "mprotect"), "lockf": ("fcntl",),
    "pipe": ("pipe2", "pipe"), "send": ("sendto",), "recv": ("recvfrom",), "eventfd": ("eventfd2",), "signalfd": ("signalfd4",),
    "accept": ("accept", "accept4"), "shm_open": ("openat",), "shm_unlink": ("unlink",), "epoll_create": ("epoll_create", "epoll_create1"),
}
COUNT_MESSAGES = "sendmmsg", "recvmmsg"      # the kernel counts messages, the row their bytes
ADDRESSES = "mmap", "mremap"


def names_of(func):
    return OTHER_NAMES.get(func, (func,))


def run_beside_strace(this, *command):
    case.need_program("strace")
    out, log = this.new_trace(), this.path("strace.log")
    options = [option for option in strace_log.OPTIONS if option not in ("-e", "--seccomp-bpf")
               and not option.startswith("trace=")]
    done = this.run("strace", *options, "-o", log, *this.command(*command, out=out))
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    trace = Trace(out)
    return trace, strace_log.read_log(log, trace)


def rows_between_marks(this, trace):
    begin, end = (next(call for call in trace.calls_of("access") if call.path == mark) for mark in MARKS)
    this.equal("marks in one process", begin.pid, end.pid)
    return [call for call in trace.calls if call.pid == begin.pid and begin.ts_ns < call.ts_ns < end.ts_ns]


def syscalls_between_marks(this, log, pid):
    """The system calls that libc made; the first mark, which access() made, gives the base of libc."""
    own = [call for call in log.syscalls if call.pid == pid]
    marks = [at for at, call in enumerate(own) if any(f'"{mark[:16]}' in call.text for mark in MARKS)
             and call.name in names_of("access")]
    this.equal("marks in the log", len(marks), 2)
    base = base_of_libc("access", own[marks[0]].address)
    return [call for call in own[marks[0] + 1:marks[1]] if 0 <= call.address - base < size_of_libc()]


def same_result(row, call):
    if call.ret < 0:
        return row.err == getattr(errno, call.err) and row.ret == -1
    if row.func in COUNT_MESSAGES:
        return row.arg2 >> 32 == call.ret
    if row.func in ADDRESSES:
        return row.ret & (2**64 - 1) == call.ret & (2**64 - 1)
    return row.ret == call.ret


def expect_same_sequence(this, rows, calls):
    """Every row has its system calls, in order, and every system call of a hooked name has its row."""
    known = {name for row in rows for name in names_of(row.func)}
    left = [call for call in calls if call.name in known]
    for row in rows:
        made = []
        while left and left[0].name in names_of(row.func):
            made.append(left.pop(0))
            if same_result(row, made[-1]):
                break
        this.true(f"{row.func} = {row.ret} (errno {row.err}) has its system call",
                  made and same_result(row, made[-1]), [f"{call.name}({call.text}) = {call.ret}" for call in made + left[:2]])
    this.equal("system calls without a row", [f"{call.name}({call.text})" for call in left], [])
