# SPDX-License-Identifier: Apache-2.0
"""Pairs of an untraced and a traced run, one right after the other, in turning order (AB, BA, AB, ...); the tracers of
one case take turns in random order. A tracer that fails or hangs is left out from then on, with the reason in its row."""

import random
from dataclasses import dataclass, field

import numpy
from estimates import estimate
from loops import Unusable
from tracers import Tracer

SEED = 7
COMPLETE_SHARE = 0.99  # of the iterations must be on record, or the row says that it is not


@dataclass
class Row:
    """What one tracer did to one case. The lists hold one entry per pair."""

    case: object
    tracer: object
    iterations: int
    untraced: list = field(default_factory=list)  # Sample
    traced: list = field(default_factory=list)
    rdtsc_ns: list = field(default_factory=list)
    complaint: str = ""

    def added(self, what):
        """Estimate of the added nanoseconds per call; `what`: wall_ns or cpu_ns."""
        return estimate([getattr(b, what) - getattr(a, what) for a, b in zip(self.untraced, self.traced)])

    def ratio(self):
        return estimate([b.wall_ns / a.wall_ns for a, b in zip(self.untraced, self.traced)])

    def untraced_ns(self):
        return float(numpy.median([sample.wall_ns for sample in self.untraced]))

    def rdtsc(self):
        return float(numpy.median(self.rdtsc_ns))

    def budget(self):
        """The Budget of this row, or None."""
        return next((budget for budget in self.case.budgets if budget.tracer == self.tracer.name), None)

    def readings(self):
        return [sample.recorded for sample in self.traced if sample.recorded.events >= 0]

    def shortfall(self):
        """Empty, or what is missing in what the tracer recorded: a tracer that records nothing is fast."""
        if not self.tracer.records or self.case.silent:
            return ""
        least = min((reading.events + reading.counted + reading.lost for reading in self.readings()), default=0)
        expected = self.iterations * self.case.threads
        if least < expected * COMPLETE_SHARE:
            return f"recorded {least:,} of at least {expected:,} calls"
        lost = max((reading.lost for reading in self.readings()), default=0)
        return f"lost up to {lost:,} records" if lost else ""


class PairRunner:
    def __init__(self, runner, options, progress):
        self.runner = runner
        self.options = options
        self.progress = progress
        self.random = random.Random(SEED)

    def pairs_of(self, case, tracer):
        if not tracer.is_mlrun and tracer.records:
            return min(self.options.peer_pairs, self.options.pairs)
        return min(case.pairs or self.options.pairs, self.options.pairs)

    def measure(self, case, tracers):
        """Rows in the order of `tracers`."""
        rows = [
            Row(case, tracer, self.iterations_of(case, tracer), complaint=tracer.missing() or "") for tracer in tracers
        ]
        for turn in range(max(self.pairs_of(case, tracer) for tracer in tracers)):
            due = [row for row in rows if turn < self.pairs_of(case, row.tracer)]
            for row in self.random.sample(due, len(due)):
                self.progress(f"{case.name} {row.tracer.name}")
                if not row.complaint:
                    self.measure_pair(row, turn)
        return rows

    def iterations_of(self, case, tracer):
        return max(case.iterations // tracer.shorter_loops // self.options.divisor, 10)

    def measure_pair(self, row, turn):
        try:
            pair = {}
            for tracer in (Tracer(), row.tracer) if turn % 2 == 0 else (row.tracer, Tracer()):
                read_back = tracer.is_mlrun or turn == 0
                pair[tracer is row.tracer] = self.runner.run(
                    row.case, tracer, row.iterations, row.tracer.needs_python, read_back
                )
        except Unusable as reason:
            if tracer is not row.tracer:
                raise Unusable(f"{row.case.name}, untraced: {reason}") from None
            row.complaint = str(reason)
            return
        row.untraced.append(pair[False])
        row.traced.append(pair[True])
        row.rdtsc_ns.append(self.runner.rdtsc_ns())
