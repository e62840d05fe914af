# SPDX-License-Identifier: Apache-2.0
"""A whole training, tests/workloads/train.py with two loader workers, untraced and traced in turning order."""

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from cases import TRAINING
from command import run_command
from estimates import estimate
from loops import Unusable
from tracers import Recorded, Tracer


@dataclass
class TrainingSample:
    wall_s: float  # of the command, from its start to its end
    steps_s: float  # from run_start to run_stop of its MLLOG lines: without imports and teardown
    workload_cpu_s: float  # of the command and the processes it waited for
    tracer_cpu_s: float  # of the tracer's own process until the command's end
    exit_s: float  # from the command's end to the prompt
    recorded: Recorded

    def cpu_s(self):
        return self.workload_cpu_s + self.tracer_cpu_s


@dataclass
class TrainingRow:
    tracer: object
    untraced: list = field(default_factory=list)
    traced: list = field(default_factory=list)
    complaint: str = ""

    def added_percent(self, figure):
        """figure: a function of a sample; the estimate is of its growth in percent of the untraced run of the pair."""
        return estimate([100 * (figure(b) / figure(a) - 1) for a, b in zip(self.untraced, self.traced)])


class TrainingRunner:
    def __init__(self, options, programs):
        self.train = options.checkout / "tests" / "workloads" / "train.py"
        self.programs = programs
        self.cpus = options.cpus
        self.limit_s = options.limit
        self.options = ["--workers", "2", "--epochs", "2" if options.quick else "4"]
        if options.quick:
            self.options += ["--size", "16", "--channels", "4"]
        self.scratch = Path(tempfile.mkdtemp(prefix="training-", dir=programs))
        self.data = programs / "kits"
        subprocess.run(
            [sys.executable, str(self.train.with_name("make_kits.py")), "--out", str(self.data)],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def run(self, tracer):
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=self.scratch))
        try:
            clock = [str(self.programs / "command_clock"), str(folder / "clock.json")]
            command = [
                sys.executable,
                str(self.train),
                "--data",
                str(self.data),
                "--mllog",
                str(folder / "mllog.txt"),
                *self.options,
            ]
            inside = tracer.needs_command_clock_inside
            launch = tracer.launch([*clock, *command] if inside else command, folder)
            arguments = launch.arguments if inside else [*clock, *launch.arguments]
            ended = run_command(arguments, folder, self.limit_s, launch.environment, self.cpus)
            complaint = ended.complaint(self.limit_s)
            if complaint:
                raise Unusable(complaint)
            times = json.loads((folder / "clock.json").read_text())
            return TrainingSample(
                wall_s=(times["end_ns"] - times["begin_ns"]) / 1e9,
                steps_s=steps_seconds(folder / "mllog.txt"),
                workload_cpu_s=(times["user_ns"] + times["system_ns"]) / 1e9,
                tracer_cpu_s=times["parent_cpu_ns"] / 1e9 if inside else 0.0,
                exit_s=(ended.end_ns - times["end_ns"]) / 1e9,
                recorded=tracer.recorded(folder, ended),
            )
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def steps_seconds(log):
    at = {}
    for line in log.read_text().splitlines():
        entry = json.loads(line.removeprefix(":::MLLOG "))
        at[entry["key"]] = entry["time_ms"] / 1000
    return at["run_stop"] - at["run_start"]


def measure_training(runner, rows, pairs_of, progress):
    """Adds pairs to the rows, one to each in turn; yields after each turn, when all rows may be written."""
    for turn in range(max(pairs_of(row.tracer) for row in rows)):
        for row in rows:
            if turn >= pairs_of(row.tracer):
                continue
            progress(f"{TRAINING} {row.tracer.name}")
            if not row.complaint:
                measure_pair(runner, row, turn)
        yield turn


def measure_pair(runner, row, turn):
    pair = {}
    try:
        for tracer in (Tracer(), row.tracer) if turn % 2 == 0 else (row.tracer, Tracer()):
            pair[tracer is row.tracer] = runner.run(tracer)
    except Unusable as reason:
        if tracer is not row.tracer:
            raise Unusable(f"{TRAINING}, untraced: {reason}") from None
        row.complaint = str(reason)
        return
    row.untraced.append(pair[False])
    row.traced.append(pair[True])
