# SPDX-License-Identifier: Apache-2.0
"""Runs a command under `strace -f mlrun --preload` and compares, per process and path, strace with the trace."""

import os
from collections import Counter

from lib import case, match, strace_log
from lib.sort_differences import Context, sort_differences
from lib.trace import Trace


class Truth:
    def __init__(self, this, *command, options=(), strace=(), **more):
        case.need_program("strace")
        self.case, out, log = this, this.new_trace(), this.path("strace.log")
        traced = this.command(*command, out=out, options=options)
        done = this.run("strace", *strace_log.OPTIONS, *strace, "-o", log, *traced, **more)
        this.equal("exit status", done.returncode, 0, said=done.stderr)
        self.trace = Trace(out)
        self.log = strace_log.read_log(log, self.trace)
        self.matched = match.match(self.log, self.trace.calls)
        self.sorted = sort_differences(self.matched.calls, Context(self.log, self.trace, self.matched))

    def report(self):
        """One line per rule with its number and an example, for the log of the test."""
        print(f"{sum(len(calls) for _, calls in self.matched.pairs)} system calls stand under "
              f"{len(self.matched.pairs)} rows of the trace")
        for rule, found in sorted(self.sorted.items()):
            call, evidence = found[0]
            print(f"{len(found):6} {rule or 'NOT SORTED'}: e.g. {call.name} {call.path}: {evidence}")

    def expect_nothing_unsorted(self):
        lost = self.sorted.get("", [])
        self.case.true(f"{len(lost)} system calls that no rule explains", not lost,
                       "\n" + "\n".join(str(call) for call, _ in lost[:20]))
        self.case.true(f"{len(self.matched.rows)} rows without a system call", not self.matched.rows,
                       "\n" + "\n".join(str(row) for row in self.matched.rows[:20]))

    def expect_same_paths(self):
        """A row names the file that the kernel names; a descriptor without a path (pipe, socket) its kind and inode."""
        other = [(row.path, call.path, row.func) for row, calls in self.matched.pairs for call in calls
                 if not same_file(row, call)]
        self.case.true(f"{len(other)} rows with another path than the kernel's", not other,
                       Counter(other).most_common(12))

    def expect_same_bytes(self):
        """The bytes of a row are those that its system calls moved."""
        other = []
        for row, calls in self.matched.pairs:
            for operation, funcs in (("read", match.READING), ("write", match.WRITING)):
                moved = [call.ret for call in calls if match.OPERATION[call.name] == operation and call.ret > 0]
                if row.func in funcs and max(row.ret, 0) != sum(moved):
                    other.append((row, moved))
        self.case.true(f"{len(other)} rows with other bytes than strace's", not other, other[:5])

    def expect_data_agrees(self, folder):
        """Below `folder` nothing may differ: opens, reads, writes, closes and bytes per process and path."""
        prefix = str(folder) + "/"
        differing = [call for found in self.sorted.values() for call, _ in found if call.path.startswith(prefix)
                     and not case.MLRUN.name == call.name]
        self.case.equal("differences below the data folder", [str(call) for call in differing], [])
        of_kernel = match.totals_of_calls(call for call in self.log.syscalls
                                          if call.name in match.OPERATION and call.path.startswith(prefix))
        of_trace = match.totals_of_rows(self.matched.pairs, prefix)
        self.case.equal("counts and bytes per process and path", of_trace, of_kernel)
        return of_kernel


def same_file(row, call):
    """The kernel names a file by its path from the root without symbolic links, a row at least by the program's path."""
    if row.func == "glob":  # the row names a pattern
        return True
    named = row.path.removesuffix(" (deleted)").replace("/proc/self/", f"/proc/{row.pid}/")
    for link in ("/proc/net/", "/proc/mounts"):  # links of /proc that depend on the calling process
        if named.startswith(link):
            named = named.replace("/proc/", f"/proc/{row.pid}/", 1)
    kernels = call.path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")  # as the tables escape it
    return kernels in (named, os.path.realpath(named))
