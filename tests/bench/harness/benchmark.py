# SPDX-License-Identifier: Apache-2.0
"""One benchmark from plan to results: which cases and tracers, in which order, and the files they end in."""

import json
import os
from datetime import UTC, datetime

from cases import CASES, TRAINING, TRAINING_TRACERS
from loops import LoopRunner
from machine import describe_machine, machine_lines, stolen_ticks
from pairs import PairRunner
from plots import draw
from progress import Progress
from tables import json_report, loop_line, text_report, training_line
from training import TrainingRow, TrainingRunner, measure_training

REPORTED_OPTIONS = (
    "only",
    "tracers",
    "quick",
    "pairs",
    "peer_pairs",
    "training_pairs",
    "training_peer_pairs",
    "divisor",
    "limit",
    "cpus",
)


class Benchmark:
    """One run of the whole: what is planned, what has been measured, and where it is written."""

    def __init__(self, options):
        self.options = options
        self.cases = [case for case in CASES if self.is_wanted(case.name) and self.tracers_among(case.tracers)]
        self.training_tracers = self.tracers_among(TRAINING_TRACERS) if self.is_wanted(TRAINING) else []
        self.machine = describe_machine(options.checkout)
        self.stolen_at_start = stolen_ticks()
        self.rows = []
        self.training_rows = []
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        self.output = options.output or options.build / "bench" / f"results-{stamp}"

    def is_wanted(self, name):
        return not self.options.only or name in self.options.only

    def tracers_among(self, wanted):
        chosen = self.options.tracers or wanted
        return [tracer for tracer in self.options.all_tracers if tracer.stands_for in wanted and tracer.stands_for in chosen]

    def training_pairs_of(self, tracer):
        return self.options.training_pairs if tracer.is_mlrun else self.options.training_peer_pairs

    def measure(self):
        programs = self.options.build / "bench"
        progress = Progress()
        try:
            with LoopRunner(programs, self.options.cpus, self.options.limit) as loop_runner:
                pairs = PairRunner(loop_runner, self.options, progress.step)
                plan = [(case, self.tracers_among(case.tracers)) for case in self.cases]
                progress.plan(
                    sum(pairs.pairs_of(case, tracer) for case, tracers in plan for tracer in tracers)
                    + sum(map(self.training_pairs_of, self.training_tracers))
                )
                for case, tracers in plan:
                    rows = pairs.measure(case, tracers)
                    progress.finished(*(loop_line(row, rows) for row in rows))
                    self.rows += rows
                    self.write()
            if self.training_tracers:
                self.measure_training(programs, progress)
        finally:
            progress.end()

    def measure_training(self, programs, progress):
        with TrainingRunner(self.options, programs) as runner:
            self.training_rows = [TrainingRow(tracer, complaint=tracer.missing() or "") for tracer in self.training_tracers]
            for _ in measure_training(runner, self.training_rows, self.training_pairs_of, progress.step):
                self.write()
        progress.finished(*((TRAINING, *training_line(row)) for row in self.training_rows))

    def write(self):
        """All that has been measured so far, so that an end in the middle loses little. Returns the text."""
        self.machine |= {
            "load_at_end": os.getloadavg()[0],
            "stolen_s": (stolen_ticks() - self.stolen_at_start) / os.sysconf("SC_CLK_TCK"),
        }
        used = {row.tracer.name for row in self.rows + self.training_rows}
        tracers = [tracer for tracer in self.options.all_tracers if tracer.name in used]
        options = {name: value for name, value in vars(self.options).items() if name in REPORTED_OPTIONS}
        self.output.mkdir(parents=True, exist_ok=True)
        text = text_report(machine_lines(self.machine), tracers, self.rows, self.training_rows)
        (self.output / "results.txt").write_text(text)
        report = json_report(self.machine, options, tracers, self.rows, self.training_rows)
        (self.output / "results.json").write_text(json.dumps(report, indent=1) + "\n")
        draw(self.output / "results.svg", self.rows, self.training_rows)
        return text

    def has_failed(self):
        """Peers may fail; that is a result. mlrun may not."""
        return any(row.complaint and row.tracer.is_mlrun for row in self.rows + self.training_rows)
