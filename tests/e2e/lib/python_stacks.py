# SPDX-License-Identifier: Apache-2.0
"""Python stacks in the trace, and those that the program itself sees."""

from lib.stacks import Stacks

# For a program: what sys._current_frames says, innermost first, by thread id of the system.
WITNESS = """
import json, os, sys, threading, time

def stacks_now():
    threads = {thread.ident: thread.native_id for thread in threading.enumerate()}
    seen = {}
    for ident, frame in sys._current_frames().items():
        steps = []
        while frame is not None:
            name = os.fsencode(frame.f_code.co_filename).decode(errors="surrogateescape")
            steps.append([name, frame.f_code.co_qualname, frame.f_lineno or 0])
            frame = frame.f_back
        seen[threads[ident]] = steps
    return seen
"""


def escaped(name):
    """Escapes like names of a trace: a byte that is not UTF-8 becomes \\xNN."""
    return "".join(f"\\x{ord(sign) - 0xdc00:02x}" if 0xdc80 <= ord(sign) <= 0xdcff else sign for sign in name)


class PythonStacks:
    def __init__(self, trace):
        self.rows = trace.rows("python_stack")
        self.stacks = Stacks(trace)

    def steps(self, row):
        """[file, function, line], innermost first."""
        return [[frame.source, frame.function, frame.line or 0] for frame in self.stacks.by_id[row["stack_id"]]]

    def within(self, first_ns, last_ns):
        return [row for row in self.rows if first_ns <= row["ts"] and row["ts"] + row["dur"] <= last_ns]
