# SPDX-License-Identifier: Apache-2.0
"""Histograms of durations and sizes: a column for each kind of operation, a row for each process and one for all together."""

from __future__ import annotations

from typing import Any

from mlrun_trace.errors import TraceError
from mlrun_trace.plot.options import Options
from mlrun_trace.plot.span import Span
from mlrun_trace.plot.style import BLUE, GREY, RED, log_ticks, plain, short_count, short_size, short_time
from mlrun_trace.plot.timeline import group_of
from mlrun_trace.trace import Trace

Table = list[dict[str, Any]]
BINS_A_DOUBLING = 4
ROWS_MOST = 8
TEXT_FROM = 0.72  # share of the axes' height: texts begin here
TICKS = {1: 5, 2: 5, 3: 4, 4: 3, 5: 2}  # number of ticks with texts, by the number of histograms side by side

VALUES = """
SELECT {group} AS process, s.class AS operation, {call} AS value
FROM call c JOIN (SELECT DISTINCT func, class FROM summary_func WHERE class IN ({classes})) s USING (func)
JOIN process p USING (proc_id) LEFT JOIN file f USING (file_id)
WHERE coalesce(f.kind, 'regular') IN ('regular', 'directory', 'block', 'link', 'unknown') AND c.err = 0 AND c.ts < {end} AND c.ts + c.dur >= {start}
UNION ALL
SELECT {group}, 'request ' || c.op, {request} FROM block_part c JOIN process p USING (proc_id) LEFT JOIN block b USING (req_id)
WHERE c.op IN ('read', 'write') AND c.ts < {end} AND c.ts + c.dur >= {start}
"""

COUNTED = """
WITH positive AS (FROM ({values}) WHERE value > 0),
doubled AS (FROM positive UNION ALL SELECT 'all', operation, value FROM positive),
middle AS (SELECT process, operation, median(value) AS median, count(*) AS n FROM doubled GROUP BY ALL)
SELECT process, operation, pow(2, bin / {per}::DOUBLE) AS low, pow(2, (bin + 1) / {per}::DOUBLE) AS high, count, median, n
FROM (SELECT process, operation, floor(log2(value) * {per} + 1e-9)::INT AS bin, count(*) AS count FROM doubled GROUP BY ALL) JOIN middle USING (process, operation)
ORDER BY process, operation, low
"""


def collect(trace: Trace, options: Options, call: str, request: str, classes: str, unit: str) -> dict[str, Table]:
    span = Span(trace, options)
    group = group_of(trace, "role" if options.by == "auto" else options.by)
    values = VALUES.format(group=group, call=call, request=request, classes=classes, start=span.start, end=span.end)
    rows = trace.sql(COUNTED.format(values=values, per=BINS_A_DOUBLING)).rows()
    if not rows:
        raise TraceError(f"{trace} has no reads, writes or opens of files in the chosen time")
    return {"histogram": [{**row, "unit": unit} for row in rows]}


def collect_latency(trace: Trace, options: Options) -> dict[str, Table]:
    return collect(trace, options, "c.dur", "c.dur", "'open', 'read', 'write'", "ns")


def collect_sizes(trace: Trace, options: Options) -> dict[str, Table]:
    return collect(trace, options, "c.ret", "b.bytes", "'read', 'write'", "bytes")


def draw(figure: Any, tables: dict[str, Table], options: Options) -> None:
    rows = tables["histogram"]
    operations = [name for name in ("open", "read", "write", "request read", "request write") if any(row["operation"] == name for row in rows)]
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["process"]] = counts.get(row["process"], 0) + row["count"]
    processes = ["all"] + sorted((name for name in counts if name != "all"), key=lambda name: -counts[name])
    if len(processes) == 2:
        processes = ["all"]
    most = ROWS_MOST if options.columns == 2 else 1
    if len(processes) > most:
        options.remarks.append(f"{len(processes) - most} processes with fewer operations are shown only as part of 'all'")
        processes = processes[:most]
    # One column of a paper has no room for five histograms side by side.
    down, across = (processes, operations) if options.columns == 2 else (operations, processes)
    figure.set_size_inches(figure.get_figwidth(), 0.5 + 0.95 * len(down))
    axes = figure.subplots(len(down), len(across), squeeze=False, sharex="col" if options.columns == 2 else "row")
    for line, first in enumerate(down):
        for column, second in enumerate(across):
            process, operation = (first, second) if options.columns == 2 else (second, first)
            mine = [each for each in rows if each["process"] == process and each["operation"] == operation]
            draw_one(axes[line, column], mine, rows[0]["unit"], TICKS[len(across)])
            if line == 0:
                axes[line, column].set_title(plain(second, 22))
            if column == 0:
                axes[line, column].set_ylabel(plain(first, 22))
            if line == len(down) - 1:
                axes[line, column].set_xlabel("duration" if rows[0]["unit"] == "ns" else "size (bytes)")


def draw_one(axis: Any, rows: Table, unit: str, ticks: int) -> None:
    short = short_time if unit == "ns" else short_size
    axis.set_xscale("log")
    log_ticks(axis.xaxis, 10 if unit == "ns" else 4, short, ticks)
    if not rows:
        axis.set_yticks([])
        axis.text(0.5, 0.5, "none", transform=axis.transAxes, ha="center", va="center", fontsize=6, color=GREY)
        return
    axis.bar([row["low"] for row in rows], [row["count"] for row in rows], [row["high"] - row["low"] for row in rows], align="edge", color=BLUE)
    axis.axvline(rows[0]["median"], color=RED, linewidth=0.7, ymax=TEXT_FROM)
    axis.text(0.98, 1.0, f"N {rows[0]['n']:,}\nmedian {short(rows[0]['median'])}", transform=axis.transAxes, ha="right", va="top", fontsize=6)
    axis.set_yscale("log")
    axis.set_ylim(0.7, 30 * max(row["count"] for row in rows))  # room for the text above the bars
    log_ticks(axis.yaxis, 10, short_count)
