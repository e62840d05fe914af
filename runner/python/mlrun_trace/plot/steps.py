# SPDX-License-Identifier: Apache-2.0
"""Steps of the training, and the durations of its marks."""

from __future__ import annotations

from typing import Any

from mlrun_trace.errors import TraceError
from mlrun_trace.plot import fits
from mlrun_trace.plot.options import Options
from mlrun_trace.plot.span import Span
from mlrun_trace.plot.style import BLUE, GREY, ORANGE, PURPLE, plain
from mlrun_trace.trace import Trace

Table = list[dict[str, Any]]
MARKS_MOST = 20
PARTS = (("wait_s", "waiting", ORANGE), ("compute_s", "computing", BLUE), ("checkpoint_s", "checkpoint", PURPLE), ("other_s", "other", GREY))


def collect(trace: Trace, options: Options) -> dict[str, Table]:
    span = Span(trace, options)
    inside = f"ts < {span.end} AND ts + dur >= {span.start}"
    steps = f"""SELECT step, (ts - {span.zero}) / 1e9 AS start_s, dur / 1e9 AS length_s, wait_ns / 1e9 AS wait_s, compute_ns / 1e9 AS compute_s,
        checkpoint_ns / 1e9 AS checkpoint_s, other_ns / 1e9 AS other_s FROM step WHERE {inside} ORDER BY step"""
    marks = f"""SELECT coalesce(n.name, m.text) AS name, count(*) AS count, median(dur) / 1e9 AS median_s, quantile_cont(dur, 0.25) / 1e9 AS q1_s,
        quantile_cont(dur, 0.75) / 1e9 AS q3_s, sum(dur) / 1e9 AS total_s
        FROM (FROM mark WHERE dur IS NOT NULL AND {inside}) m LEFT JOIN name n USING (name_id) GROUP BY ALL ORDER BY total_s DESC LIMIT {MARKS_MOST}"""
    if trace.is_merged:
        options.remarks.append("a merged trace has no steps: draw the trace of one node")
    tables = {"steps": [] if trace.is_merged else trace.sql(steps).rows(), "marks": trace.sql(marks).rows()}
    if not tables["steps"] and not tables["marks"]:
        raise TraceError(f"{trace} has neither steps nor marks in the chosen time: mark steps with mlrun_trace.mark; mlrun report explains missing steps")
    return {**tables, **fits.collect(trace, inside)}


def draw(figure: Any, tables: dict[str, Table], options: Options) -> None:
    steps, marks = tables.get("steps", []), tables.get("marks", [])
    fitted = tables.get("fits", [])
    heights = ([1.6] if steps else []) + ([0.35 + 0.16 * len(marks)] if marks else []) + ([1.3] if fitted else [])
    figure.set_size_inches(figure.get_figwidth(), 0.4 + sum(heights))
    parts_of_figure = list(figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0])
    if fitted:
        fits.draw(parts_of_figure.pop().subplots(1, len(fitted), squeeze=False)[0], fitted, tables.get("durations", []))
    axes = [part.subplots() for part in parts_of_figure]
    if steps:
        axis = axes.pop(0)
        numbers = [row["step"] for row in steps]
        parts = [[row[key] for row in steps] for key, _, _ in PARTS]
        axis.stackplot(numbers, parts, labels=[name for _, name, _ in PARTS], colors=[colour for _, _, colour in PARTS], step="mid", linewidth=0)
        axis.margins(y=0.15)
        axis.set_ylim(bottom=0)
        axis.set_xlim(numbers[0] - 1, numbers[-1] + 1)
        axis.set_xlabel("step")
        axis.set_ylabel("time (s)")
        axis.legend(loc="upper right", ncols=4)
    if marks:
        axis = axes.pop(0)
        middles = [row["median_s"] for row in marks]
        low = [row["median_s"] - row["q1_s"] for row in marks]
        high = [row["q3_s"] - row["median_s"] for row in marks]
        axis.barh(range(len(marks)), middles, xerr=(low, high), color=BLUE, height=0.6, ecolor=axis.xaxis.label.get_color(), error_kw={"linewidth": 0.7})
        axis.set_yticks(range(len(marks)), [f"{plain(row['name'], 30)} × {row['count']:,}" for row in marks])
        axis.invert_yaxis()
        axis.set_xlabel("median duration (s), with quartiles")
