# SPDX-License-Identifier: Apache-2.0
"""Shared by the cases of --kprobes=cuda: a running program that calls a mock libcuda on command, and mlrun attached to
it."""

import ast
import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

from lib import case
from lib.kernel_side import need_kernel_side
from lib.killed_collector import wait_for
from lib.trace import Trace

DRIVER = case.BUILD / "gpu" / "uprobe" / "libcuda.so.1"
OUT_OF_MEMORY = 2

# What the victim can be asked to do, beside Python's own. It evaluates each line that it gets, and answers with the value.
DRIVER_CALLS = """
import ctypes, os, sys, threading
from ctypes import byref, c_size_t, c_uint64, c_void_p

def load(path):
    global cuda
    cuda = ctypes.CDLL(path)

def given(function, *arguments):
    "The address that a call of the driver gave, or its error as a negative number."
    address = c_uint64()
    result = getattr(cuda, function)(byref(address), *arguments)
    return -result if result else address.value

def alloc(size):
    return given("cuMemAlloc_v2", c_size_t(size))

def free(address):
    return cuda.cuMemFree_v2(c_uint64(address))

def first_byte():
    "Of the code of one of the library's functions in memory."
    return ctypes.string_at(ctypes.cast(cuda.cuGraphLaunch_ptsz, c_void_p), 1)

"""

ANSWERING = """
if len(sys.argv) > 1:
    load(sys.argv[1])
for line in sys.stdin:
    try:
        print(repr(eval(line)), flush=True)
    except Exception as problem:
        print(repr("failed: " + str(problem)), flush=True)
"""


class Victim:
    def __init__(self, this, library=DRIVER, before=(), calls=DRIVER_CALLS):
        words = [*before, sys.executable, "-S", "-B", "-c", calls + ANSWERING] + ([str(library)] if library else [])
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=this.environment)
        self.pid = self.do("os.getpid()")

    def do(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        value = ast.literal_eval(self.process.stdout.readline() or "'it has ended'")
        if isinstance(value, str) and value.startswith(("failed: ", "it has ended")):
            raise AssertionError(f"{line}: {value}")
        return value

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)

    def kill(self):
        self.process.kill()
        self.process.wait(60)


@contextlib.contextmanager
def victim(this, *arguments, **named):
    """One that is there for the time of a block."""
    one = Victim(this, *arguments, **named)
    try:
        yield one
    finally:
        one.kill()


def probes_of(one):
    """How many probes its library takes: two for each function of those that it has."""
    header = (case.SOURCE / "runner" / "events" / "cuda_calls.h").read_text()
    names = re.findall(r'{\d+, "(cu\w+)"', header)
    return 2 * one.do(f"sum(hasattr(cuda, name) for name in {names!r})")


def load_and_wait(seen, one, library):
    """From when this returns every call is seen."""
    before = seen.probes()
    one.do(f"load({str(library)!r})")
    after = before + probes_of(one)
    wait_for(lambda: seen.probes() == after, 120)


def holder_of(mlrun):
    """The folder in /proc of the program that holds the probes: mlrun's child."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            name, _, rest = stat.read_text(errors="replace").partition(") ")
            if name.endswith("(mlrun-probes") and int(rest.split()[1]) == mlrun:
                return stat.parent
    raise AssertionError("mlrun has no mlrun-probes")


def probes_held_by(mlrun):
    """How many programs are attached, by the descriptors that hold them; those to tracepoints are always as many."""
    found = 0
    for descriptor in (holder_of(mlrun) / "fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it opens and closes others all the time
            target = os.readlink(descriptor)
            found += "bpf" in target and "link" in target
    return found


class Observation:
    """mlrun, once it has attached."""

    def __init__(self, this, *options, kprobes="cuda", stdout=None):
        self.this, self.out = this, this.new_trace()
        self.said = this.path(f"{self.out.name}.said")
        with open(self.said, "w", encoding="utf-8") as said:
            self.mlrun = subprocess.Popen([case.MLRUN, f"--kprobes={kprobes}", "-o", self.out, *map(str, options)],
                                          stdout=stdout, stderr=said, cwd=this.folder, env=this.environment)
        wait_for(lambda: "observing" in self.said.read_text() or self.mlrun.poll() is not None, 60)
        this.equal("it observes", self.mlrun.poll(), None, said=self.said.read_text())

    def holder(self):
        return holder_of(self.mlrun.pid)

    def probes(self):
        return probes_held_by(self.mlrun.pid)

    def end(self, asked=True):
        if asked:
            self.mlrun.terminate()
        self.this.equal("exit status", self.mlrun.wait(120), 0, said=self.said.read_text())
        return Trace(self.out)


def memory_rows(trace, pid):
    """(operation, function, bytes, address) of a process, in the order of their end."""
    rows = sorted((row for row in trace.rows("gpu_memory") if row["pid"] == pid), key=lambda row: row["ts"] + row["dur"])
    return [(row["operation"], row["func"], row["bytes"], row["address"]) for row in rows]


def no_loss(this, trace):
    lost = [row for row in trace.rows("loss") if row["unit"] in ("calls of libcuda", "GPU allocations")]
    this.equal("nothing lost", lost, [])


def need_uprobes():
    need_kernel_side()
    if not DRIVER.exists():
        raise case.Skip(f"{DRIVER} is not built")
