#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --access takes from a program that takes page faults without pause. One process runs all the time, under one mlrun; the thread of mlrun that
samples accesses is stopped and continued by turns, so that both sides have the same memory at the same places. README.md says how to read it.
Usage: run.py [--mib MIB] [--seconds S] [--pairs N] [--rung cold|clear-refs] [--build DIR]"""

import argparse
import ctypes
import json
import math
import mmap
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(SOURCE / "tests" / "bench"))
from harness.estimates import estimate  # noqa: E402

BAR, SETTLE_S, CPU = 98.0, 0.5, 1
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 17, 0x4206, 0x4207, 0x40000000
FIGURES = ("while it could run", "CPU time", "wall time")
SNAPSHOT, LONGEST, END = 0, 32, 40  # offsets of what faulting.c shares


class Ptrace:
    """Stops one thread of another process."""

    def __init__(self, tid):
        self.tid, self.is_stopped = tid, False
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.libc.ptrace.restype = ctypes.c_long

    def call(self, request):
        if self.libc.ptrace(request, self.tid, None, None) == -1:
            raise OSError(ctypes.get_errno(), "ptrace")

    def set_stopped(self, wanted):
        if wanted and not self.is_stopped:
            self.call(PTRACE_SEIZE)
            self.call(PTRACE_INTERRUPT)
            os.waitpid(self.tid, WALL)
        elif self.is_stopped and not wanted:
            self.call(PTRACE_DETACH)
        self.is_stopped = wanted


class Program:
    """The program under mlrun."""

    def __init__(self, asked):
        self.folder = Path(tempfile.mkdtemp())
        shared = self.folder / "shared"
        shared.write_bytes(bytes(mmap.PAGESIZE))
        with shared.open("r+b") as file:
            self.shared = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        command = [asked.build / "bin" / "mlrun", "run", "--quiet", "-o", self.folder / "trace", "--preload=off", "--sample=off", "--python-stacks=off",
                   f"--access={asked.rung},require", "--", "taskset", "-c", CPU, asked.build / "bench" / "faulting", asked.mib, shared]
        self.mlrun = subprocess.Popen([str(word) for word in command])
        while self.snapshot()[0] == 0:
            if self.mlrun.poll() is not None:
                raise SystemExit(f"mlrun ended early: {self.mlrun.returncode}")
            time.sleep(0.1)
        tasks = Path(f"/proc/{self.mlrun.pid}/task").iterdir()
        self.sampler = Ptrace(next(int(task.name) for task in tasks if (task / "comm").read_text(encoding="utf-8").strip() == "mlrun-access"))

    def snapshot(self):
        """Turns, wall time, CPU time, time of waiting for a processor."""
        while (found := struct.unpack_from("=4Q", self.shared, SNAPSHOT)) != struct.unpack_from("=4Q", self.shared, SNAPSHOT):
            pass
        return found

    def fresh_snapshot(self):
        before = self.snapshot()
        while (found := self.snapshot())[0] == before[0]:
            time.sleep(0.001)
        return found

    def take_longest_ms(self):
        longest, = struct.unpack_from("=Q", self.shared, LONGEST)
        struct.pack_into("=Q", self.shared, LONGEST, 0)
        return longest / 1e6

    def end(self):
        """What mlrun says about the rung."""
        self.sampler.set_stopped(False)
        struct.pack_into("=Q", self.shared, END, 1)
        self.mlrun.wait()
        return json.loads((self.folder / "trace" / "run.json").read_text(encoding="utf-8"))["access"]["rungs"][0]


def phase(program, is_on, seconds):
    """Turns a second by each figure. What the last window's pages cost after the sampler has stopped is left out; what it does when it goes on is not."""
    program.sampler.set_stopped(not is_on)
    if not is_on:
        time.sleep(SETTLE_S)
    program.take_longest_ms()
    before = program.fresh_snapshot()
    time.sleep(seconds)
    turns, wall, ran, waited = (last - first for first, last in zip(before, program.fresh_snapshot(), strict=True))
    return [turns / one for one in (wall - waited, ran, wall)], 100 * (wall - waited - ran) / (wall - waited), program.take_longest_ms()


def shown(name, logs):
    found = estimate([100 * math.exp(one) for one in logs])
    return found, f"| {name} | {found.median:.2f} % ({found.low:.2f} to {found.high:.2f}) | {found.pairs} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=6, help="of a phase")
    parser.add_argument("--pairs", type=int, default=30, help="even")
    parser.add_argument("--rung", default="cold", choices=("cold", "clear-refs"))
    parser.add_argument("--build", type=Path, default=Path(os.environ.get("MLRUN_BUILD", SOURCE / "build")))
    asked = parser.parse_args()
    asked.build = asked.build.resolve()
    program = Program(asked)
    phase(program, True, asked.seconds)
    on_logs, null_logs, held_up, longest = [], [], {True: [], False: []}, {True: [], False: []}
    for _ in range(asked.pairs // 2):  # on, off, off, on: what drifts evenly falls out, and the two in the middle differ by noise alone
        four = []
        for is_on in (True, False, False, True):
            rates, share, longest_ms = phase(program, is_on, asked.seconds)
            four.append([math.log(rate) for rate in rates])
            held_up[is_on].append(share)
            longest[is_on].append(longest_ms)
        on_logs += [[a - b for a, b in zip(four[x], four[y], strict=True)] for x, y in ((0, 1), (3, 2))]
        null_logs.append([a - b for a, b in zip(four[1], four[2], strict=True)])
    facts = program.end()
    print(f"{asked.rung}, {asked.mib} MiB, phases of {asked.seconds:g} s; load {os.getloadavg()[0]:.1f}\n\n| throughput by | with --access, of that without | pairs |\n|---|---|---|")
    for number, name in enumerate(FIGURES):
        found, line = shown(name, [row[number] for row in on_logs])
        print(line)
        if number == 0:
            verdict = "met" if found.low >= BAR else "missed" if found.high < BAR else "cannot tell"
        print(shown(f"{name}, without against without", [row[number] for row in null_logs])[1])
    for is_on, name in ((True, "with"), (False, "without")):
        print(f"{name}: held up for {statistics.mean(held_up[is_on]):.2f} % of the time in which it could run (worst phase {max(held_up[is_on]):.2f} %); "
              f"longest turn of a phase: median {statistics.median(longest[is_on]):.1f} ms, worst {max(longest[is_on]):.1f} ms")
    print(f"{facts['samples']} windows; longest call {facts['worst_stall_ns'] / 1e6:.2f} ms, longest read {facts['worst_read_ns'] / 1e6:.2f} ms; {facts['cost']}")
    print(f"at least {BAR:g} % while it could run: {verdict}")


if __name__ == "__main__":
    main()
