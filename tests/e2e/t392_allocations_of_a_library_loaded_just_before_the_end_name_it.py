# SPDX-License-Identifier: Apache-2.0
"""A program loads a library that allocates, and ends at once: by return, _exit, quick_exit, abort or exec, in a thread,
in a forked child, or after unloading the library. The allocation is attributed to the library, and the program's own
allocations to the program."""

import os
import signal

from lib import case

SIZE = 5555


def named(trace):
    names = trace.names
    return [os.path.basename(names.get(row["site_library"], "unknown")) for row in trace.rows("alloc") if row["size"] == SIZE]


def check(this):
    library = this.victim("unloaded_one.so")
    for how in ("return", "_exit", "quick_exit", "abort", "exec", "thread", "fork", "dlclose"):
        status = 128 + signal.SIGABRT if how == "abort" else 0
        trace = this.trace(this.victim("loads_late"), library, how, status=status)
        this.equal(f"libraries of the blocks before {how}", named(trace), ["unloaded_one.so"])
    trace = this.trace(this.victim("loads_late"), "./unloaded_one.so", "return", cwd=os.path.dirname(library))
    this.equal("by a relative path", named(trace), ["unloaded_one.so"])


if __name__ == "__main__":
    case.run(check)
