# SPDX-License-Identifier: Apache-2.0
"""A program looks up libc's functions by libc's own handle, or loads a library with RTLD_DEEPBIND or with its own libc:
coverage counts these. The program gets the same results as untraced: dlopen and dlsym see the real caller. Other
look-ups have no row."""

import sys

from lib import case

BY_HANDLE = """
import ctypes
libc = ctypes.CDLL("libc.so.6")
print(libc.getpid() > 0, libc.open(b"/etc/passwd", 0) > 0)
"""
BOUND_DEEP = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_DEEPBIND | os.RTLD_NOW)
print(library.one_allocates is not None)
"""
NEITHER = """
import ctypes, sys
print(ctypes.CDLL(None).getpid() > 0, ctypes.CDLL("libc.so.6").strlen(b"abc"), ctypes.CDLL(sys.argv[1]).one_allocates is not None)
try:
    ctypes.CDLL("./no_such_library.so")
except OSError as error:
    print(error)
"""
SUBJECTS = ("calls of libraries that find libc before the hooks", "calls of functions that were looked up in libc itself")


def check(this):
    library = this.victim("unloaded_one.so")
    for script, wanted in ((BY_HANDLE, [SUBJECTS[1]]), (BOUND_DEEP, [SUBJECTS[0]]), (NEITHER, [])):
        trace = this.untraced_and_traced(sys.executable, "-c", script, library)
        this.equal("coverage", [row["subject"] for row in trace.rows("coverage") if row["subject"] in SUBJECTS], wanted)
    trace = this.untraced_and_traced(this.victim("looks_up"), library)
    counts = {row["subject"]: row["kernel"] for row in trace.rows("coverage") if row["subject"] in SUBJECTS}
    this.equal("counts", counts, {SUBJECTS[0]: 2, SUBJECTS[1]: 3})


if __name__ == "__main__":
    case.run(check)
