# SPDX-License-Identifier: Apache-2.0
"""The results as text for people and as one JSON object for programs."""

from dataclasses import asdict

import numpy
from builds import differences
from verdicts import MAX_TRAINING_CPU_PERCENT, MAX_TRAINING_WALL_PERCENT, judge, training_met

SCHEMA_VERSION = 1
EVENTS_FOR_SIZE = 20_000  # below it a trace is mostly its fixed parts, and a size per event means nothing
EVENTS_FOR_PACE = 500_000  # the same for the time at exit
LOOP_HEADER = ("case", "tracer", "untraced", "added per call", "95 % interval", "ratio", "CPU in program", "budget", "")
END_HEADER = ("case", "tracer", "events", "counted", "lost", "bytes/event", "exit", "per 3 M events", "")
BUILD_HEADER = ("case", "tracer", "build", "other", "difference", "95 % interval", "allowed", "exit", "other", "")
TRAINING_HEADER = (
    "tracer",
    "pairs",
    "wall time",
    "95 % interval",
    "CPU",
    "95 % interval",
    "steps",
    "exit",
    "events",
    "",
)


def text_table(header, lines):
    """Columns as wide as needed, the first two to the left, the others to the right, the last (remarks) to the left."""
    cells = [header, *lines]
    widths = [max(len(line[i]) for line in cells) for i in range(len(header))]
    last = len(header) - 1
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i in (0, 1, last) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in cells
    )


def nanoseconds(value):
    if abs(value) >= 10e6:
        return f"{value / 1e6:,.1f} ms"
    if abs(value) >= 20e3:
        return f"{value / 1e3:,.1f} us"
    return f"{value:,.1f} ns" if abs(value) < 1000 else f"{value:,.0f} ns"


def interval(estimate, show):
    return f"{show(estimate.low)} .. {show(estimate.high)}"


def percent(value):
    return f"{value:+.1f} %"


def loop_line(row, rows):
    """`rows`: those of the same case are looked at for the best peer."""
    if not row.traced:
        return (row.case.name, row.tracer.name, "", "", "", "", "", "", row.complaint)
    wall, cpu = row.added("wall_ns"), row.added("cpu_ns")
    return (
        row.case.name,
        row.tracer.name,
        nanoseconds(row.untraced_ns()),
        nanoseconds(wall.median),
        interval(wall, nanoseconds),
        f"x{row.ratio().median:.2f}",
        nanoseconds(cpu.median),
        verdict(judge(row, rows)),
        row.complaint or row.shortfall(),
    )


def verdict(judgement):
    if not judgement:
        return ""
    text = f"{'met' if judgement['met'] else 'MISSED'}: {judgement['text']}"
    if "rdtsc" in judgement["text"]:
        text += f" = {nanoseconds(judgement['limit_ns'])}"
    if judgement["best_peer"]:
        text += f"; {judgement['share_of_best_peer']:.2f} of {judgement['best_peer']}"
    return text


def end_figures(row):
    """Medians over the runs of what mlrun left behind, or None."""
    runs = [sample for sample in row.traced if sample.recorded.events > 0]
    if not runs or not row.tracer.is_mlrun:
        return None
    return {
        "events": int(numpy.median([run.recorded.events for run in runs])),
        "counted": int(numpy.median([run.recorded.counted for run in runs])),
        "lost": int(numpy.median([run.recorded.lost for run in runs])),
        "bytes_per_event": float(numpy.median([run.recorded.size_bytes / run.recorded.events for run in runs])),
        "exit_s": float(numpy.median([run.exit_s for run in runs])),
        "exit_s_per_3m_events": float(numpy.median([run.exit_s / run.recorded.events * 3e6 for run in runs])),
    }


def end_line(row):
    figures = end_figures(row)
    verdicts = []
    for limit, value, unit in (
        (row.case.max_bytes_per_event, figures["bytes_per_event"], "bytes"),
        (row.case.max_exit_s_per_3m, figures["exit_s_per_3m_events"], "s"),
    ):
        if limit:
            verdicts.append(f"{'met' if value <= limit else 'MISSED'}: {limit:g} {unit}")
    return (
        row.case.name,
        row.tracer.name,
        f"{figures['events']:,}",
        f"{figures['counted']:,}",
        f"{figures['lost']:,}",
        f"{figures['bytes_per_event']:.1f}" if figures["events"] >= EVENTS_FOR_SIZE else "",
        f"{figures['exit_s']:.2f} s",
        f"{figures['exit_s_per_3m_events']:.2f} s" if figures["events"] >= EVENTS_FOR_PACE else "",
        ", ".join(verdicts),
    )


def training_line(row):
    if not row.traced:
        return (row.tracer.name, "0", *[""] * 7, row.complaint)
    wall = row.added_percent(lambda sample: sample.wall_s)
    cpu = row.added_percent(lambda sample: sample.cpu_s())
    steps = row.added_percent(lambda sample: sample.steps_s)
    events = int(numpy.median([sample.recorded.events for sample in row.traced]))
    return (
        row.tracer.name,
        str(wall.pairs),
        percent(wall.median),
        interval(wall, percent),
        percent(cpu.median),
        interval(cpu, percent),
        percent(steps.median),
        exit_time(row),
        f"{events:,}" if events >= 0 else "",
        row.complaint or training_verdict(row, wall, cpu),
    )


def exit_time(row):
    """Empty for a tracer whose last work is part of the wall time."""
    inside = row.tracer.needs_command_clock_inside
    return f"{numpy.median([sample.exit_s for sample in row.traced]):.2f} s" if inside else ""


def training_verdict(row, wall, cpu):
    remarks = []
    if row.tracer.name == "mlrun":
        word = "met" if training_met(wall, cpu) else "MISSED"
        remarks.append(
            f"{word}: CPU +{MAX_TRAINING_CPU_PERCENT} %, upper bound of wall time +{MAX_TRAINING_WALL_PERCENT} %"
        )
    lost = max(sample.recorded.lost for sample in row.traced)
    if lost:
        remarks.append(f"lost up to {lost:,} records")
    return "; ".join(remarks)


def build_line(found):
    """`found`: a Difference."""
    return (
        found.case,
        found.tracer,
        nanoseconds(found.build),
        nanoseconds(found.other),
        nanoseconds(found.difference.median),
        interval(found.difference, nanoseconds),
        nanoseconds(found.allowed_ns),
        f"{found.exit_build_s:.2f} s",
        f"{found.exit_other_s:.2f} s",
        "WORSE" if found.is_worse() else "",
    )


def text_report(machine_lines, tracers, rows, training_rows):
    parts = ["\n".join(machine_lines)]
    if rows:
        rdtsc = [value for row in rows for value in row.rdtsc_ns]
        if rdtsc:
            parts.append(f"One rdtsc: {numpy.median(rdtsc):.1f} ns. Times are per call and thread, medians of pairs.")
        parts.append(text_table(LOOP_HEADER, [loop_line(row, rows) for row in rows]))
        ends = [row for row in rows if end_figures(row)]
        if ends:
            parts.append(
                "What a run leaves, and how long after the command's end the prompt is back:\n"
                + text_table(END_HEADER, [end_line(row) for row in ends])
            )
    builds = differences(rows)
    if builds:
        parts.append(
            "What the build adds per call beside the other build, in the same turns:\n"
            + text_table(BUILD_HEADER, [build_line(found) for found in builds])
        )
    if training_rows:
        base = [sample for row in training_rows for sample in row.untraced]
        title = "A whole training"
        if base:
            title += (
                f" (untraced: {numpy.median([s.wall_s for s in base]):.2f} s of wall time, "
                f"{numpy.median([s.cpu_s() for s in base]):.2f} s of CPU, "
                f"{numpy.median([s.steps_s for s in base]):.2f} s in its steps)"
            )
        parts.append(f"{title}:\n" + text_table(TRAINING_HEADER, [training_line(row) for row in training_rows]))
    parts.append("\n".join(f"{tracer.name:14s} {tracer.about}{version_of(tracer)}" for tracer in tracers))
    return "\n\n".join(parts) + "\n"


def version_of(tracer):
    version = tracer.version()
    return f" [{version}]" if version else ""


def loop_object(row, rows):
    found = {
        "case": row.case.name,
        "loop": row.case.loop,
        "threads": row.case.threads,
        "about": row.case.about,
        "tracer": row.tracer.name,
        "iterations": row.iterations,
        "complaint": row.complaint,
        "rdtsc_ns": row.rdtsc_ns,
        "untraced": [asdict(sample) for sample in row.untraced],
        "traced": [asdict(sample) for sample in row.traced],
    }
    if row.traced:
        found |= {
            "untraced_ns": row.untraced_ns(),
            "added_wall_ns": row.added("wall_ns").as_dict(),
            "added_cpu_ns": row.added("cpu_ns").as_dict(),
            "ratio": row.ratio().as_dict(),
            "shortfall": row.shortfall(),
            "budget": judge(row, rows),
            "end": end_figures(row),
        }
    return found


def training_object(row):
    found = {
        "tracer": row.tracer.name,
        "complaint": row.complaint,
        "untraced": [asdict(sample) for sample in row.untraced],
        "traced": [asdict(sample) for sample in row.traced],
    }
    if row.traced:
        found |= {
            "added_wall_percent": row.added_percent(lambda sample: sample.wall_s).as_dict(),
            "added_cpu_percent": row.added_percent(lambda sample: sample.cpu_s()).as_dict(),
            "added_steps_percent": row.added_percent(lambda sample: sample.steps_s).as_dict(),
        }
    return found


def json_report(machine, options, tracers, rows, training_rows):
    return {
        "schema_version": SCHEMA_VERSION,
        "machine": machine,
        "options": options,
        "tracers": {tracer.name: {"about": tracer.about, "version": tracer.version()} for tracer in tracers},
        "loops": [loop_object(row, rows) for row in rows],
        "builds": [asdict(found) for found in differences(rows)],
        "training": [training_object(row) for row in training_rows],
    }
