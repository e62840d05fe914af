# SPDX-License-Identifier: Apache-2.0
"""The timeline: one axis of time; phases, processors, GPUs, disks, and a row for each process with its opens, reads and writes."""

from __future__ import annotations

from typing import Any

from mlrun_trace.errors import TraceError
from mlrun_trace.plot.options import Options
from mlrun_trace.plot.span import Span
from mlrun_trace.plot.style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY, YELLOW, plain, seconds_label
from mlrun_trace.trace import Trace

Table = list[dict[str, Any]]
MPSTAT = ("user", "nice", "system", "iowait", "irq", "softirq", "steal", "guest", "guest_nice", "idle")
CPU_PARTS = {"user": ("user", "nice", "guest", "guest_nice"), "system": ("system", "irq", "softirq"), "iowait": ("iowait",), "steal": ("steal",)}
BINS = 1200  # number of bins of time: more than the eye can distinguish in print
ROWS_MOST = 24
PHASES_WITH_LINES = 60
LANES = {"requests": 0, "reads and writes": 1, "opens": 2}
COLOURS = {"open": PURPLE, "read": BLUE, "write": RED, "request read": SKY, "request write": ORANGE}
PHASE_COLOURS = {"epoch": YELLOW, "eval": PURPLE, "checkpoint": RED, "init": BLUE, "run": GREY}

# Not the devices that are made of others (LVM, LUKS, multipath, md, ...): their requests are those of the devices below them, too. The file of a loop
# device may be on a disk, or on Lustre, NFS or tmpfs with no disk below: one that moved more bytes than all disks in the trace is counted.
PHYSICAL = """NOT regexp_matches(device, '^(dm-|md|loop|bcache|drbd)') AND device NOT IN (
  SELECT regexp_replace(device, 'c[0-9]+n', 'n') FROM sample_disk WHERE regexp_matches(device, '^nvme[0-9]+c[0-9]+n'))"""
LOWEST = f"""({PHYSICAL} OR device IN (
  SELECT device FROM sample_disk WHERE device LIKE 'loop%' GROUP BY device HAVING sum(read_bytes + written_bytes) >
  (SELECT coalesce(sum(read_bytes + written_bytes), 0) FROM sample_disk WHERE {PHYSICAL})))"""

# Sums pieces of work by bin of time. A piece that spans several bins is divided among them.
BINNED = """
WITH piece AS ({pieces}),
bin AS (
  SELECT grp, lane, what, greatest(ts - {start}, 0) AS a, least(ts + dur, {end}) - {start} AS b FROM piece
  WHERE ts < {end} AND ts + dur >= {start}),
numbered AS (SELECT *, a // {width} AS first, least(b, {end} - {start} - 1) // {width} AS last FROM bin),
part AS (
  SELECT grp, lane, what, first AS number, b - a AS ns, 1 AS n FROM numbered WHERE first = last
  UNION ALL
  SELECT grp, lane, what, number, least(b, (number + 1) * {width}) - greatest(a, number * {width}) AS ns, (number = first)::INT AS n
  FROM (SELECT *, unnest(range(first, last + 1)) AS number FROM numbered WHERE first < last))
SELECT grp, lane, what, number, sum(ns)::BIGINT AS ns, sum(n)::BIGINT AS n FROM part GROUP BY ALL ORDER BY ALL
"""

PIECES = """
SELECT {group} AS grp, CASE s.class WHEN 'open' THEN 'opens' ELSE 'reads and writes' END AS lane, s.class AS what, c.ts, c.dur
FROM call c JOIN (SELECT DISTINCT func, class FROM summary_func WHERE class IN ('open', 'read', 'write')) s USING (func)
JOIN process p USING (proc_id) LEFT JOIN file f USING (file_id)
WHERE coalesce(f.kind, 'regular') IN ('regular', 'directory', 'block', 'link', 'unknown')
UNION ALL
SELECT {group}, 'requests', 'request ' || c.op, c.ts, c.dur FROM block_part c JOIN process p USING (proc_id) WHERE c.op IN ('read', 'write')
"""

GROUPS = {
    "process": "coalesce(nullif(p.role, ''), 'process') || coalesce(' ' || p.rank, '') || ' ' || p.pid",
    "role": "coalesce(nullif(p.role, ''), 'process')",
    "run": "'the run'",
}


def group_of(trace: Trace, by: str) -> str:
    """The expression that names the row of a process `p`. In a merged trace the node is added, since nodes may have the same process numbers."""
    if by == "auto":
        few = 12
        busy = "SELECT count(*) AS n FROM summary_process WHERE calls > 0"
        by = "process" if trace.sql(busy).rows()[0]["n"] <= few else "role"
    if by != "process" or not trace.is_merged:
        return GROUPS[by]
    return f"{GROUPS[by]} || ' on ' || (SELECT n.name FROM node n WHERE n.node_id = p.node_id)"


def names_of(trace: Trace, options: Options) -> list[str]:
    """Names of rows, in the order in which their processes began."""
    rows = trace.sql(f"SELECT {group_of(trace, options.by)} AS grp, min(p.proc_id) AS first FROM process p GROUP BY ALL ORDER BY first").rows()
    return [row["grp"] for row in rows]


def collect(trace: Trace, options: Options) -> dict[str, Table]:
    span = Span(trace, options)
    width = max(1, -(-(span.end - span.start) // BINS))
    places = {"start": span.start, "end": span.end, "width": width}
    seconds = f"({{}} - {span.zero}) / 1e9"
    inside = f"ts < {span.end} AND ts + coalesce(dur, 0) >= {span.start}"
    phases = f"SELECT name, {seconds.format('ts')} AS start_s, dur / 1e9 AS length_s FROM phase WHERE {inside} ORDER BY ts"
    cpus = f"""
        SELECT {seconds.format('ts')} AS start_s, dur / 1e9 AS length_s, {", ".join(f"100 * sum({name}_ns) / sum(dur) AS {name}_percent" for name in MPSTAT)}
        FROM sample_cpu WHERE dur > 0 AND {inside} GROUP BY ts, dur ORDER BY ts"""
    cpu = f"""
        SELECT {seconds.format('ts')} AS start_s, dur / 1e9 AS length_s, 100 * user_ns / total AS user_percent, 100 * system_ns / total
        AS system_percent, 100 * iowait_ns / total AS iowait_percent, 100 * steal_ns / total AS steal_percent, 100 * idle_ns / total AS idle_percent
        FROM (SELECT *, nullif(user_ns + system_ns + idle_ns + iowait_ns + steal_ns, 0)::DOUBLE AS total FROM sample_machine) WHERE {inside} ORDER BY ts"""
    gpu = f"""
        SELECT {seconds.format('s.ts')} AS at_s, g.nvml_index AS gpu, sm_percent, mem_percent, fb_used_bytes
        FROM sample_gpu s JOIN gpu g USING (gpu_id) WHERE s.{inside.replace('dur', 's.dur').replace('ts +', 's.ts +')} ORDER BY s.ts"""
    disks = f"""
        SELECT {seconds.format('ts')} AS start_s, dur / 1e9 AS length_s, sum(read_bytes) * 1e3 / dur AS read_mb_per_s, sum(written_bytes) * 1e3 / dur AS write_mb_per_s
        FROM sample_disk WHERE dur > 0 AND {inside} AND {LOWEST} GROUP BY ts, dur ORDER BY ts"""
    disk = f"""
        SELECT {seconds.format(f'{span.start} + number * {width}')} AS start_s, {width / 1e9}::DOUBLE AS length_s,
        coalesce(sum(bytes) FILTER (op = 'read'), 0) / {width / 1e9}::DOUBLE / 1e6 AS read_mb_per_s,
        coalesce(sum(bytes) FILTER (op = 'write'), 0) / {width / 1e9}::DOUBLE / 1e6 AS write_mb_per_s
        FROM (SELECT *, (ts_done - {span.start}) // {width} AS number FROM block WHERE ts_done >= {span.start} AND ts_done < {span.end}) GROUP BY number ORDER BY number"""
    work = BINNED.format(pieces=PIECES.format(group=group_of(trace, options.by)), **places)
    rows = trace.sql(f"""SELECT grp AS process, lane, what, {seconds.format(f'({span.start} + number * {width})')} AS start_s,
        {width / 1e9}::DOUBLE AS length_s, least(1, ns / {width}::DOUBLE)::DOUBLE AS busy, n AS calls FROM ({work})""").rows()
    there = set(trace.tables)  # imported traces have no tables of samples

    def rows_of(table: str, query: str) -> Table:
        return trace.sql(query).rows() if table in there else []

    tables = {"phases": rows_of("phase", phases), "cpu": rows_of("sample_cpu", cpus) or rows_of("sample_machine", cpu), "gpu": rows_of("sample_gpu", gpu),
              "disk": rows_of("block", disk) or rows_of("sample_disk", disks)}
    if trace.is_merged:
        tables.update(cpu=[], gpu=[], disk=[])
        options.remarks.append("a merged trace shows no processors, GPUs and disks: draw the trace of one node")
    order = {name: place for place, name in enumerate(names_of(trace, options))}
    tables["work"] = sorted(keep_busiest(rows, options), key=lambda row: (order[row["process"]], row["what"], row["start_s"]))
    if not any(tables.values()):
        raise TraceError(f"{trace} has no phases, samples, reads, writes or opens of files in the chosen time")
    tables["span"] = [{"from_s": span.from_s, "until_s": span.until_s}]
    return tables


def keep_busiest(rows: Table, options: Options) -> Table:
    """Keeps at most ROWS_MOST processes: those with the most I/O time."""
    time: dict[str, float] = {}
    for row in rows:
        time[row["process"]] = time.get(row["process"], 0) + row["busy"]
    kept = sorted(time, key=lambda name: -time[name])[:ROWS_MOST]
    if len(kept) < len(time):
        options.remarks.append(f"{len(time) - len(kept)} processes with less I/O are left out; --by role shows all")
    return [row for row in rows if row["process"] in kept]


def draw(figure: Any, tables: dict[str, Table], options: Options) -> None:
    from matplotlib.patches import Patch

    work = tables.get("work", [])
    names = list(dict.fromkeys(row["process"] for row in work))
    parts = [(name, height) for name, height in (("phases", 0.5), ("cpu", 0.9), ("gpu", 0.9), ("disk", 0.9)) if tables.get(name)]
    if names:
        parts.append(("work", 0.28 * len(names) + 0.3))
    figure.set_size_inches(figure.get_figwidth(), 0.7 + sum(height for _, height in parts))
    axes = figure.subplots(len(parts), 1, sharex=True, squeeze=False, height_ratios=[height for _, height in parts])[:, 0]
    for (name, _), axis in zip(parts, axes):
        DRAWERS[name](axis, tables.get(name, []))
    (span,) = tables["span"]
    begins = [row["start_s"] for row in tables.get("phases", [])]
    for axis in axes:
        for moment in begins if len(begins) <= PHASES_WITH_LINES else ():
            axis.axvline(moment, color=GREY, linewidth=0.3, zorder=0)
        for ns, _ in options.lines:
            axis.axvline(ns / 1e9, color=RED, linewidth=0.6, linestyle="--")
    for ns, text in options.lines:
        axes[0].annotate(plain(text, 30), (ns / 1e9, 1), xycoords=("data", "axes fraction"), ha="center", va="bottom", fontsize=6, annotation_clip=True)
    axes[-1].set_xlim(span["from_s"], span["until_s"])
    axes[-1].set_xlabel(seconds_label())
    used = {row["what"] for row in work}
    if used:
        handles = [Patch(color=colour, label=what) for what, colour in COLOURS.items() if what in used]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def draw_phases(axis: Any, rows: Table) -> None:
    families = {row["name"]: " ".join(row["name"].split()[:1]) for row in rows}
    lanes = list(dict.fromkeys(families.values()))
    for row in rows:
        family = families[row["name"]]
        axis.broken_barh([(row["start_s"], row["length_s"])], (lanes.index(family) - 0.4, 0.8), facecolors=PHASE_COLOURS.get(family, GREEN), alpha=0.8)
    axis.set_yticks(range(len(lanes)), [plain(lane, 20) for lane in lanes])
    axis.invert_yaxis()


def draw_cpu(axis: Any, rows: Table) -> None:
    edges = [row["start_s"] for row in rows] + [rows[-1]["start_s"] + rows[-1]["length_s"]]
    stacks = [[sum(row.get(f"{name}_percent") or 0 for name in names) for row in rows + rows[-1:]] for names in CPU_PARTS.values()]
    axis.stackplot(edges, stacks, labels=list(CPU_PARTS), colors=(BLUE, ORANGE, GREY, RED), step="post", linewidth=0)
    axis.set_ylim(0, 100)
    axis.set_ylabel("CPU (%)")
    axis.legend(loc="upper right", ncols=4, bbox_to_anchor=(1, 1.25))


def draw_gpu(axis: Any, rows: Table) -> None:
    memory = axis.twinx()
    for gpu in sorted({row["gpu"] for row in rows}):
        mine = [row for row in rows if row["gpu"] == gpu]
        times = [row["at_s"] for row in mine]
        axis.plot(times, [row["sm_percent"] for row in mine], color=BLUE, label=f"GPU {gpu} kernels")
        axis.plot(times, [row["mem_percent"] for row in mine], color=ORANGE, label=f"GPU {gpu} memory used")
        memory.plot(times, [(row["fb_used_bytes"] or 0) / 2**30 for row in mine], color=GREEN, linestyle=":", label=f"GPU {gpu} allocated")
    axis.set_ylim(0, 100)
    axis.set_ylabel("GPU (%)")
    memory.set_ylabel("memory (GiB)")
    memory.set_ylim(bottom=0)


def draw_disk(axis: Any, rows: Table) -> None:
    # The rate is 0 between rows.
    times = [moment for row in rows for moment in (row["start_s"], row["start_s"], row["start_s"] + row["length_s"], row["start_s"] + row["length_s"])]
    for key, colour, label in (("read_mb_per_s", BLUE, "read"), ("write_mb_per_s", RED, "written")):
        axis.plot(times, [value for row in rows for value in (0, row[key], row[key], 0)], color=colour, label=label)
    axis.set_ylim(bottom=0)
    axis.set_ylabel("disk (MB/s)")
    axis.legend(loc="upper right", ncols=2, bbox_to_anchor=(1, 1.25))


def draw_work(axis: Any, rows: Table) -> None:
    from matplotlib.colors import to_rgba

    names = list(dict.fromkeys(row["process"] for row in rows))
    height = 0.9 / len(LANES)
    for what, colour in COLOURS.items():
        mine = [row for row in rows if row["what"] == what]
        for name in {row["process"] for row in mine}:
            bars = [row for row in mine if row["process"] == name]
            bottom = names.index(name) + 0.45 - height * (LANES[bars[0]["lane"]] + 1)
            # Even the least used bin is drawn visibly.
            shades = [to_rgba(colour, 0.25 + 0.75 * row["busy"]) for row in bars]
            axis.broken_barh([(row["start_s"], row["length_s"]) for row in bars], (bottom, height), facecolors=shades, linewidth=0)
    axis.set_yticks(range(len(names)), [plain(name, 28) for name in names])
    axis.set_ylim(len(names) - 0.5, -0.5)


DRAWERS = {"phases": draw_phases, "cpu": draw_cpu, "gpu": draw_gpu, "disk": draw_disk, "work": draw_work}
