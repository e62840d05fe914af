# SPDX-License-Identifier: Apache-2.0
"""What a picture is to show."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mlrun_trace.errors import TraceError

UNITS_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "": 1_000_000_000, "min": 60_000_000_000, "h": 3_600_000_000_000}


def parse_time(text: str) -> int:
    """Nanoseconds since the start of the command: 2.5s, 300ms, 1min; without a unit seconds."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zµ]*)", text.strip())
    if match is None or match.group(2) not in UNITS_NS:
        raise TraceError(f"'{text}' is no time: write 2.5s, 300ms or 1min, since the start of the command")
    return round(float(match.group(1)) * UNITS_NS[match.group(2)])


@dataclass
class Options:
    """Times are ns since the start of the command; None: the start, or the end, of the run."""

    from_ns: int | None = None
    until_ns: int | None = None
    by: str = "auto"  # what has a row: process, role, run; auto: histograms role, the timeline process up to 12 of them
    columns: int = 2  # of a paper: the picture is as wide as one or two
    dark: bool = False
    title: str = ""
    figure: str = "wall_s"  # of a sweep
    parameter: str = ""  # of a sweep: the horizontal axis
    block_bits: int = 12
    block_min: int = 0
    block_max: int | None = None
    time_unit_ns: int = 1_000_000
    lines: list[tuple[int, str]] = field(default_factory=list)  # of the timeline: moments that are marked, with a text
    remarks: list[str] = field(default_factory=list)  # what the picture leaves out, printed
