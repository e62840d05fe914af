# SPDX-License-Identifier: Apache-2.0
"""Addresses over time. Ranges of addresses without blocks and accesses are left out of the axis."""

from __future__ import annotations

import bisect
from typing import Any

from mlrun_trace.errors import TraceError
from mlrun_trace.plot.options import Options
from mlrun_trace.plot.span import Span
from mlrun_trace.plot.style import GREEN, GREY, seconds_label
from mlrun_trace.trace import Trace

Table = list[dict[str, Any]]
BLOCKS_MOST = 20_000  # most blocks of memory that are drawn: those with the most bytes × lifetime

LIFETIMES = """
WITH event AS (
  SELECT proc_id, ts + CASE WHEN op = 'free' THEN 0 ELSE coalesce(dur, 0) END AS moment, addr, CASE WHEN op = 'free' THEN 0 ELSE usable END AS bytes FROM alloc
  UNION ALL SELECT proc_id, ts, old_addr, 0 FROM alloc WHERE old_addr IS NOT NULL AND old_addr <> 0 AND old_addr <> addr),
lived AS (SELECT proc_id, moment, addr, bytes, coalesce(lead(moment) OVER (PARTITION BY proc_id, addr ORDER BY moment, bytes), {end}) AS gone FROM event)
SELECT proc_id, addr, bytes, (moment - {zero}) / 1e9 AS start_s, (gone - moment) / 1e9 AS length_s FROM lived
WHERE bytes > 0 AND moment < {end} AND gone > {start} AND addr >= {low} AND addr < {high}
ORDER BY bytes::DOUBLE * (gone - moment) DESC LIMIT {most}
"""

ACCESSES = """
SELECT addr // {block} AS block, (ts - {start}) // {unit} AS number, count(*) AS count, avg((op = 'load')::INT) AS read_share
FROM access WHERE ts >= {start} AND ts < {end} AND addr >= {low} AND addr < {high} GROUP BY ALL ORDER BY ALL
"""


def collect(trace: Trace, options: Options) -> dict[str, Table]:
    span = Span(trace, options)
    block = 1 << options.block_bits
    low = options.block_min * block
    high = 2**63 - 1 if options.block_max is None else (options.block_max + 1) * block
    places = {"start": span.start, "end": span.end, "zero": span.zero, "low": low, "high": high, "block": block, "unit": options.time_unit_ns}
    lifetimes = trace.sql(LIFETIMES.format(most=BLOCKS_MOST + 1, **places)).rows()
    if len(lifetimes) > BLOCKS_MOST:
        lifetimes.pop()
        options.remarks.append(f"only the {BLOCKS_MOST} blocks with the most bytes × lifetime are shown")
    accesses: Table = []
    if "access" in trace.tables:
        accesses = trace.sql(ACCESSES.format(**places)).rows()
    if not lifetimes and not accesses:
        raise TraceError(f"{trace} has no allocations in the chosen time: record them with --preload")
    if not accesses:
        options.remarks.append("the trace has no accesses (record with --access): only blocks of memory are shown")
    regions = touched([(row["addr"], row["addr"] + row["bytes"]) for row in lifetimes] + [(row["block"] * block, (row["block"] + 1) * block) for row in accesses], block)
    options.remarks.append(f"shown, to go on from: --from {span.from_s:.9g}s --until {span.until_s:.9g}s --block-bits {options.block_bits} "
                           f"--block-min {regions[0][0] // block} --block-max {regions[-1][1] // block - 1}")
    place = Compact(regions)
    for row in lifetimes:
        row["compact_addr"] = place(row["addr"])
    for row in accesses:
        row["addr"] = row.pop("block") * block
        row["compact_addr"] = place(row["addr"])
        row["start_s"] = (span.start - span.zero + row.pop("number") * options.time_unit_ns) / 1e9
    gaps = [{"addr": begin, "bytes": end - begin, "compact_addr": place(begin)} for begin, end in regions]
    return {"lifetimes": lifetimes, "accesses": accesses, "regions": gaps, "span": [{"from_s": span.from_s, "until_s": span.until_s}]}


def touched(ranges: list[tuple[int, int]], block: int) -> list[tuple[int, int]]:
    """The smallest ranges of whole blocks that cover the given ranges; adjacent ones are joined."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted((begin // block * block, -(-end // block) * block) for begin, end in ranges):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


class Compact:
    """The position of an address on the axis: its distance from the lowest one, without the gaps between regions."""

    def __init__(self, regions: list[tuple[int, int]]) -> None:
        self.begins = [begin for begin, _ in regions]
        self.places = [0]
        for begin, end in regions:
            self.places.append(self.places[-1] + end - begin)

    def __call__(self, addr: int) -> int:
        region = bisect.bisect_right(self.begins, addr) - 1
        return self.places[region] + addr - self.begins[region]


def draw(figure: Any, tables: dict[str, Table], options: Options) -> None:
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    figure.set_size_inches(figure.get_figwidth(), figure.get_figwidth() * 0.6)
    axis = figure.subplots()
    blocks = [Rectangle((row["start_s"], row["compact_addr"]), row["length_s"], row["bytes"]) for row in tables.get("lifetimes", [])]
    axis.add_collection(PatchCollection(blocks, facecolor=GREEN, alpha=0.75 if options.dark else 0.35, linewidth=0, rasterized=len(blocks) > 2000))
    regions = tables["regions"]
    few = 200
    for row in regions[1:] if len(regions) <= few else ():
        axis.axhline(row["compact_addr"], color=GREY, linewidth=0.3)
    accesses = tables.get("accesses", [])
    if accesses:
        most = max(row["count"] for row in accesses)
        shades = LinearSegmentedColormap.from_list("reads", ("#E69F00", "#999999", "#0072B2"))
        dots = axis.scatter([row["start_s"] for row in accesses], [row["compact_addr"] for row in accesses], s=[1 + 20 * row["count"] / most for row in accesses],
                            c=[row["read_share"] for row in accesses], cmap=shades, vmin=0, vmax=1, linewidth=0, rasterized=len(accesses) > 5000)
        figure.colorbar(dots, ax=axis, label="share of reads", fraction=0.04)
    (span,) = tables["span"]
    axis.set_xlim(span["from_s"], span["until_s"])
    axis.set_ylim(0, regions[-1]["compact_addr"] + regions[-1]["bytes"])
    whole = regions[-1]["compact_addr"] + regions[-1]["bytes"]
    axis.yaxis.set_major_locator(MultipleLocator(1 << max(0, whole // 8).bit_length()))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{int(value):#x}"))
    axis.set_xlabel(seconds_label())
    axis.set_ylabel("address, without untouched ranges")
