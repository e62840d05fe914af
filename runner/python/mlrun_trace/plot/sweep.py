# SPDX-License-Identifier: Apache-2.0
"""A figure of a sweep: one dot for each run, by configuration or over a parameter, with median and quartiles."""

from __future__ import annotations

import math
from statistics import median, quantiles
from typing import Any

from mlrun_trace.errors import TraceError
from mlrun_trace.plot.options import Options
from mlrun_trace.plot.style import CYCLE, plain
from mlrun_trace.sweep import Sweep

Table = list[dict[str, Any]]


def collect(sweep: Sweep, options: Options) -> dict[str, Table]:
    rows = [row for row in sweep.figures().rows() if row["state"] == "done"]
    figures = sorted({name for row in rows for name, value in row.items() if isinstance(value, float)})
    with_it = [row for row in rows if options.figure in figures and row[options.figure] is not None]
    places = parameter_of(with_it, options.parameter) if options.parameter else [row["configuration"] for row in with_it]
    series = "configuration" if options.parameter else "workload"
    mine = [{"configuration": row["configuration"], "workload": row["workload"], "block": row["block"], "position": row["position"], "x": place,
             "value": row[options.figure], "series": row[series]} for row, place in zip(with_it, places)]
    if not mine:
        raise TraceError(f"{sweep} has no figure {options.figure}; it has {', '.join(figures) or 'none'}")
    return {"runs": mine, "cells": cells(mine), "lines": lines(mine)}


def parameter_of(rows: Table, name: str) -> list[Any]:
    """The values of a parameter: as numbers if all values are numbers."""
    column = f"parameter_{name}"
    if rows and column not in rows[0]:
        names = ", ".join(each[len("parameter_"):] for each in rows[0] if each.startswith("parameter_")) or "none"
        raise TraceError(f"the sweep has no parameter {name}; it has {names}")
    texts = [str(row[column]) for row in rows]
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        return texts
    return numbers if all(map(math.isfinite, numbers)) else texts


def cells(rows: Table) -> Table:
    """Median and quartiles at each place of the horizontal axis, of each series."""
    values: dict[tuple[Any, str], list[float]] = {}
    for row in rows:
        values.setdefault((row["x"], row["series"]), []).append(row["value"])
    out = []
    for (x, series), mine in values.items():
        q1, _, q3 = quantiles(mine, n=4, method="inclusive") if len(mine) > 1 else (mine[0],) * 3
        out.append({"x": x, "series": series, "n": len(mine), "median": median(mine), "q1": q1, "q3": q3})
    return out


def lines(rows: Table) -> Table:
    """The straight line through the runs of each series over a parameter, by least squares, and its R²."""
    out = []
    for name in dict.fromkeys(row["series"] for row in rows):
        points = [(row["x"], row["value"]) for row in rows if row["series"] == name and isinstance(row["x"], float)]
        n = len(points)
        size = max((abs(x) for x, _ in points), default=0) or 1.0  # scaled by the largest value, whose square may otherwise overflow
        points = [(x / size, y) for x, y in points]
        if len({x for x, _ in points}) < 2:
            continue
        x_mean, y_mean = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
        xx = sum((x - x_mean) ** 2 for x, _ in points)
        xy = sum((x - x_mean) * (y - y_mean) for x, y in points)
        yy = sum((y - y_mean) ** 2 for _, y in points)
        out.append({"series": name, "n": n, "slope": xy / xx / size, "intercept": y_mean - xy / xx * x_mean, "r2": xy * xy / (xx * yy) if yy else None})
    return out


def draw(figure: Any, tables: dict[str, Table], options: Options) -> None:
    runs, middles = tables["runs"], tables["cells"]
    places = list(dict.fromkeys(row["x"] for row in runs))
    in_numbers = all(isinstance(place, float) for place in places)
    if options.parameter:
        places.sort(key=lambda place: (isinstance(place, str), place))
    series = list(dict.fromkeys(row["series"] for row in runs))
    figure.set_size_inches(figure.get_figwidth(), 2.2 + 0.12 * len(series))
    axis = figure.subplots()
    width = 0.8 / len(series)
    for number, name in enumerate(series):
        shift = 0 if in_numbers else (number - (len(series) - 1) / 2) * width
        at = {place: place if in_numbers else places.index(place) + shift for place in places}
        colour = CYCLE[number % len(CYCLE)]
        mine = [row for row in runs if row["series"] == name]
        axis.scatter([at[row["x"]] for row in mine], [row["value"] for row in mine], s=6, color=colour, alpha=0.6, linewidth=0, label=plain(name, 70))
        rows = sorted((row for row in middles if row["series"] == name), key=lambda row: places.index(row["x"]))
        if in_numbers:
            axis.plot([row["x"] for row in rows], [row["median"] for row in rows], color=colour)
            axis.fill_between([row["x"] for row in rows], [row["q1"] for row in rows], [row["q3"] for row in rows], color=colour, alpha=0.2, linewidth=0)
            continue
        for row in rows:
            x = at[row["x"]]
            axis.plot([x - width / 3, x + width / 3], [row["median"]] * 2, color=colour, linewidth=1.5)
            axis.plot([x, x], [row["q1"], row["q3"]], color=colour, linewidth=0.8)
    if not in_numbers:
        axis.set_xticks(range(len(places)), [plain(place, 24) for place in places])
    axis.set_xlabel(plain(options.parameter))
    axis.set_ylabel(options.figure)
    figure.legend(loc="outside lower center", ncols=1)
