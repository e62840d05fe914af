# SPDX-License-Identifier: Apache-2.0
"""Runs one loop of victims/ under one tracer."""

import json
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from command import run_command
from tracers import Recorded

CACHED_BYTES = 64 << 20
SPARSE_BYTES = 64 << 30
RDTSC_ITERATIONS = 200_000


class Unusable(Exception):
    """A run that gives no figure; the text says why."""


@dataclass
class Sample:
    """One run of a loop. The first two are nanoseconds per call and thread."""

    wall_ns: float
    cpu_ns: float
    exit_s: float  # from the end of the loop to the end of everything that was started
    recorded: Recorded


class LoopRunner:
    """Owns a scratch folder with the files that the loops read. `cpus`: the loops' threads take the first ones."""

    def __init__(self, programs, cpus, limit_s):
        self.programs = programs
        self.cpus = cpus
        self.limit_s = limit_s
        self.scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=programs))
        self.cached = self.scratch / "cached.bin"
        self.cached.write_bytes(os.urandom(CACHED_BYTES))
        # On tmpfs a hole is read without taking memory for it.
        descriptor, path = tempfile.mkstemp(prefix="mlrun-bench-", dir="/dev/shm")
        os.ftruncate(descriptor, SPARSE_BYTES)
        os.close(descriptor)
        self.sparse = Path(path)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.sparse.unlink(missing_ok=True)

    def run(self, case, tracer, iterations, through_python, read_back):
        """through_python: the loop is entered from Python, traced or not. read_back: also count what was recorded."""
        data = self.sparse if case.sparse else self.cached
        arguments = [tracer.loop(case), str(iterations), str(case.threads), ",".join(map(str, self.cpus)), str(data)]
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self.scratch))
        try:
            launch = tracer.launch([*self.entry(through_python), *arguments], folder)
            ended = run_command(
                launch.arguments, folder, self.limit_s, launch.environment, self.cpus_beside(case, tracer)
            )
            times = self.parse(ended)
            recorded = tracer.recorded(folder, ended) if read_back else Recorded()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        per_thread = times["calls"]
        return Sample(
            wall_ns=(times["end_ns"] - times["begin_ns"]) / per_thread,
            cpu_ns=(times["cpu_ns"] + times["children_cpu_ns"]) / per_thread / case.threads,
            exit_s=(ended.end_ns - times["end_ns"]) / 1e9,
            recorded=recorded,
        )

    def rdtsc_ns(self):
        ended = run_command(
            [str(self.programs / "measure"), "rdtsc", str(RDTSC_ITERATIONS), "1", str(self.cpus[0]), "/dev/null"],
            self.scratch,
            self.limit_s,
        )
        times = self.parse(ended)
        return (times["end_ns"] - times["begin_ns"]) / times["calls"]

    def entry(self, through_python):
        if through_python:
            return [sys.executable, str(Path(__file__).with_name("call_loop.py")), str(self.programs / "loops.so")]
        return [str(self.programs / "measure")]

    def cpus_beside(self, case, tracer):
        """Where the tracer's own processes go: beside the loop, if there is room and they are not faster with it."""
        if case.threads > 1:
            return self.cpus
        if tracer.shares_cpu:
            return self.cpus[:1]
        return self.cpus[1:] or self.cpus

    def parse(self, ended):
        complaint = ended.complaint(self.limit_s)
        if complaint:
            raise Unusable(complaint)
        for line in ended.output.splitlines():
            if line.startswith('{"loop"'):
                return json.loads(line)
        raise Unusable("the loop printed no times")
