# SPDX-License-Identifier: Apache-2.0
"""A figure of a sweep: every run a dot, by configuration; or over a parameter, with median and quartiles."""

from __future__ import annotations

from statistics import median, quantiles
from typing import Any

from mlrun_trace.errors import TraceError
from mlrun_trace.plot.options import Options
from mlrun_trace.plot.style import CYCLE, plain
from mlrun_trace.sweep import Sweep

Table = list[dict[str, Any]]


def collect(sweep: Sweep, options: Options) -> dict[str, Table]:
    rows = sweep.figures().rows()
    mine = [row for row in rows if row["figure"] == options.figure and row["value"] is not None]
    if not mine:
        names = ", ".join(sorted({row["figure"] for row in rows})) or "none"
        raise TraceError(f"{sweep} has no figure {options.figure}; it has {names}")
    return {"runs": mine, "cells": cells(mine)}


def cells(rows: Table) -> Table:
    """Median and quartiles of each configuration and workload."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        values.setdefault((row["configuration"], row["workload"]), []).append(row["value"])
    out = []
    for (configuration, workload), mine in values.items():
        q1, _, q3 = quantiles(mine, n=4, method="inclusive") if len(mine) > 1 else (mine[0],) * 3
        out.append({"configuration": configuration, "workload": workload, "n": len(mine), "median": median(mine), "q1": q1, "q3": q3})
    return out


def draw(figure: Any, tables: dict[str, Table], options: Options) -> None:
    runs, middles = tables["runs"], tables["cells"]
    configurations = list(dict.fromkeys(row["configuration"] for row in runs))
    workloads = list(dict.fromkeys(row["workload"] for row in runs))
    figure.set_size_inches(figure.get_figwidth(), 2.2 + 0.12 * len(workloads))
    axis = figure.subplots()
    width = 0.8 / len(workloads)
    for number, workload in enumerate(workloads):
        shift = (number - (len(workloads) - 1) / 2) * width
        colour = CYCLE[number % len(CYCLE)]
        mine = [row for row in runs if row["workload"] == workload]
        axis.scatter([configurations.index(row["configuration"]) + shift for row in mine], [row["value"] for row in mine], s=6, color=colour, alpha=0.6, linewidth=0,
                     label=plain(workload, 70))
        for row in (row for row in middles if row["workload"] == workload):
            at = configurations.index(row["configuration"]) + shift
            axis.plot([at - width / 3, at + width / 3], [row["median"]] * 2, color=colour, linewidth=1.5)
            axis.plot([at, at], [row["q1"], row["q3"]], color=colour, linewidth=0.8)
    axis.set_xticks(range(len(configurations)), [plain(name, 24) for name in configurations])
    axis.set_ylabel(options.figure)
    figure.legend(loc="outside lower center", ncols=1)
