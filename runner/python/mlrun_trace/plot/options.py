# SPDX-License-Identifier: Apache-2.0
"""What a picture shows: the options of mlrun plot."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mlrun_trace.errors import TraceError

UNITS_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "": 1_000_000_000, "min": 60_000_000_000, "h": 3_600_000_000_000}


def parse_time(text: str) -> int:
    """Converts a time such as 2.5s, 300ms or 1min to nanoseconds; without a unit it is in seconds."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zµ]*)", text.strip())
    if match is None or match.group(2) not in UNITS_NS:
        raise TraceError(f"'{text}' is not a time: write 2.5s, 300ms or 1min, since the start of the command")
    return round(float(match.group(1)) * UNITS_NS[match.group(2)])


@dataclass
class Options:
    """Times are ns since the start of the command; None: the start, or the end, of the run."""

    from_ns: int | None = None
    until_ns: int | None = None
    by: str = "auto"  # what a row shows: process, role or run; auto: role in histograms; process in a timeline, if there are up to 12
    columns: int = 2  # of a paper: the picture is one or two columns wide
    dark: bool = False
    title: str = ""
    figure: str = "wall_s"  # of a sweep: the figure that is drawn
    parameter: str = ""  # of a sweep: the parameter on the horizontal axis
    block_bits: int = 12
    block_min: int = 0
    block_max: int | None = None
    time_unit_ns: int = 1_000_000
    lines: list[tuple[int, str]] = field(default_factory=list)  # of the timeline: vertical lines, each with its time and text
    remarks: list[str] = field(default_factory=list)  # messages about what the picture leaves out; printed after drawing
