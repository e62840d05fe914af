# SPDX-License-Identifier: Apache-2.0
"""The part of a run that a picture shows."""

from __future__ import annotations

from mlrun_trace.errors import TraceError
from mlrun_trace.plot.options import Options
from mlrun_trace.trace import Trace

EDGE = 0.05  # share of the run's duration that --zoom start and --zoom end show


class Span:
    """The shown part of a run: from `start` to `end`, in ns of CLOCK_MONOTONIC; `zero` is the start of the command."""

    def __init__(self, trace: Trace, options: Options) -> None:
        if len(trace.folders) != 1:
            raise TraceError("a picture needs exactly one trace")
        facts = trace.facts[0]
        self.zero = int(facts["start_ns"])
        length = int(facts.get("wall_ns") or facts["end_ns"] - facts["start_ns"])
        begin, until = options.from_ns or 0, length if options.until_ns is None else options.until_ns
        if begin >= min(until, length):
            raise TraceError(f"nothing to show from {begin / 1e9:g} s until {until / 1e9:g} s: the run took {length / 1e9:.3f} s")
        self.start, self.end = self.zero + begin, self.zero + min(until, length)

    @property
    def from_s(self) -> float:
        return (self.start - self.zero) / 1e9

    @property
    def until_s(self) -> float:
        return (self.end - self.zero) / 1e9


def zoomed(trace: Trace, zoom: str) -> list[tuple[str, int, int]]:
    """Names and times (ns since the start of the command) of the parts that --zoom selects: whole, start, end, each, or a phase by its name or its first word."""
    whole = Span(trace, Options())
    length = whole.end - whole.zero
    phases = [(str(row["name"]), int(row["ts"]) - whole.zero, int(row["ts"] + row["dur"]) - whole.zero)
              for row in trace.sql("SELECT DISTINCT name, ts, dur FROM phase WHERE dur > 0 ORDER BY ts").rows()]
    if zoom == "whole":
        return [("whole", 0, length)]
    if zoom == "start":
        return [("start", 0, round(length * EDGE))]
    if zoom == "end":
        return [("end", round(length * (1 - EDGE)), length)]
    found = phases if zoom == "each" else [phase for phase in phases if zoom in (phase[0], *phase[0].split()[:1])]
    if not found:
        names = ", ".join(dict.fromkeys(name for name, _, _ in phases)) or "no phases: they come from --mllog"
        raise TraceError(f"--zoom {zoom}: there is no such phase; write whole, start, end, each, or one of: {names}")
    return [(name, max(0, begin), min(end, length)) for name, begin, end in found]
