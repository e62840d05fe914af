# SPDX-License-Identifier: Apache-2.0
"""Normal distributions fitted to the durations of steps and marks, without the shortest and the longest hundredth."""

from __future__ import annotations

import math
from typing import Any

from mlrun_trace.plot.style import BLUE, RED, plain, short_time
from mlrun_trace.trace import Trace

Table = list[dict[str, Any]]
FITS_MOST = 4
VALUES_LEAST = 8
BINS = 24

KEPT = """
WITH value AS (
  SELECT 'step' AS name, dur FROM step WHERE {inside}
  UNION ALL SELECT coalesce(n.name, m.text), dur FROM (FROM mark WHERE dur IS NOT NULL AND {inside}) m LEFT JOIN name n USING (name_id)),
edge AS (SELECT name, quantile_cont(dur, 0.01) AS p1, quantile_cont(dur, 0.99) AS p99 FROM value GROUP BY name HAVING count(*) >= {least}),
kept AS (SELECT name, dur, p1, p99 FROM value JOIN edge USING (name) WHERE dur BETWEEN p1 AND p99),
fit AS (
  SELECT name, count(*) AS n, p1 / 1e9 AS p1_s, p99 / 1e9 AS p99_s, avg(dur) / 1e9 AS mean_s, stddev_samp(dur) / 1e9 AS std_s FROM kept
  GROUP BY name, p1, p99 ORDER BY name = 'step' DESC, n DESC, name LIMIT {most})
"""
BINNED = """
SELECT name, p1_s + bin * (p99_s - p1_s) / {bins} AS low_s, p1_s + (bin + 1) * (p99_s - p1_s) / {bins} AS high_s, count(*) AS count
FROM (SELECT k.name, f.p1_s, f.p99_s, least({bins} - 1, floor((dur - p1) / nullif(p99 - p1, 0) * {bins})::INT) AS bin FROM kept k JOIN fit f USING (name))
WHERE bin IS NOT NULL GROUP BY ALL ORDER BY name, low_s
"""


def collect(trace: Trace, inside: str) -> dict[str, Table]:
    kept = KEPT.format(inside=inside, least=VALUES_LEAST, most=FITS_MOST)
    return {"fits": trace.sql(kept + "FROM fit").rows(), "durations": trace.sql(kept + BINNED.format(bins=BINS)).rows()}


def normal(x: float, mean: float, std: float) -> float:
    return math.exp(-0.5 * ((x - mean) / std) ** 2) / (std * math.sqrt(2 * math.pi))


def draw(axes: Any, fits: Table, durations: Table) -> None:
    for axis, fit in zip(axes, fits):
        bars = [row for row in durations if row["name"] == fit["name"]]
        width = (fit["p99_s"] - fit["p1_s"]) / BINS
        axis.bar([row["low_s"] * 1e9 for row in bars], [row["count"] for row in bars], width * 1e9, align="edge", color=BLUE)
        if fit["std_s"] and width:
            places = [fit["p1_s"] + (fit["p99_s"] - fit["p1_s"]) * number / 200 for number in range(201)]
            axis.plot([x * 1e9 for x in places], [fit["n"] * width * normal(x, fit["mean_s"], fit["std_s"]) for x in places], color=RED)
        axis.set_title(plain(fit["name"], 28))
        axis.text(0.98, 0.97, f"N {fit['n']:,}\nµ {short_time(fit['mean_s'] * 1e9)}\nσ {short_time(fit['std_s'] * 1e9)}", transform=axis.transAxes, ha="right", va="top", fontsize=6)
        axis.xaxis.set_major_formatter(lambda value, _: short_time(value))
        axis.xaxis.get_major_locator().set_params(nbins=3)
        axis.yaxis.get_major_locator().set_params(integer=True)
        axis.set_xlabel("duration")
    axes[0].set_ylabel("count")
