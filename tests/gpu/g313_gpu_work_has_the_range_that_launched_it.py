# SPDX-License-Identifier: Apache-2.0
"""CUDA calls and the work they launched have the innermost range of their thread, or, if the thread has none, that of
the process; the summary adds up work by each enclosing name."""

import cupti_case
from gpu_case import report
from lib import case

STEPS = 50


def names_of(trace, table):
    """How many rows of the table have a mark of that name."""
    marks = {row["mark_id"]: trace.names[row["name_id"]] for row in trace.rows("mark")}
    counts = {}
    for row in trace.rows(table):
        name = marks[row["mark_id"]] if row["mark_id"] is not None else None
        counts[name] = counts.get(name, 0) + 1
    return counts


def check_rows(this, trace):
    kernels = {"step": STEPS, "forward": 2 * STEPS, "backward": 4 * STEPS, "optimizer": STEPS, None: 2}
    this.equal("marks of kernels", names_of(trace, "gpu_kernel"), kernels)
    this.equal("marks of copies", names_of(trace, "gpu_memcpy"), {"copy": STEPS})
    this.equal("marks of synchronisations", names_of(trace, "gpu_sync"), {"copy": STEPS})
    this.equal("marks of calls", names_of(trace, "gpu_api"), kernels | {"copy": 3 * STEPS})
    marks = {row["mark_id"]: row for row in trace.rows("mark")}
    this.equal("each mark has a number of its own", len(marks), len(trace.rows("mark")))
    for row in trace.rows("gpu_api"):
        mark = marks.get(row["mark_id"])
        this.true("the call lies in its range", mark is None or mark["ts"] <= row["ts"] <= mark["ts"] + mark["dur"], (row, mark))


def check_summary(this, trace):
    marks = {row["name"]: row for row in report(this, trace)["gpu_work"]["marks"]}
    # The kernels of "optimizer" are launched while the main thread is in "backward", but in a range of their thread's own,
    # which began in "backward" for all that is known of a thread without ranges.
    this.equal("kernels with those within", {name: row["kernels"] for name, row in marks.items()},
               {"step": 8 * STEPS, "forward": 2 * STEPS, "backward": 5 * STEPS, "optimizer": STEPS, "copy": 0})
    this.equal("kernels without", {name: row["own_kernels"] for name, row in marks.items()},
               {"step": STEPS, "forward": 2 * STEPS, "backward": 4 * STEPS, "optimizer": STEPS, "copy": 0})
    this.equal("copies", [(marks[name]["copies"], marks[name]["copied_bytes"], marks[name]["memsets"]) for name in ("step", "copy")],
               [(STEPS, STEPS * 4096, STEPS)] * 2)
    kernel = trace.rows("gpu_kernel")
    work = sorted((row["ts"], row["ts"] + row["dur"]) for table in ("gpu_kernel", "gpu_memcpy", "gpu_memset")
                  for row in trace.rows(table) if row["mark_id"] is not None)
    busy, until = 0, 0
    for begin, end in work:
        busy += max(0, end - max(begin, until))
        until = max(until, end)
    this.equal("busy time of a step, once", marks["step"]["busy_ns"], busy, said=len(kernel))
    gaps = {}
    for row in trace.rows("gpu_idle"):
        if row["mark_id"] is not None:
            gaps[row["gap_id"]] = gaps.get(row["gap_id"], 0) + row["dur"]
    this.equal("idle time before work of steps", marks["step"]["idle_ns"], sum(gaps.values()))
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary has a part for it", "GPU BY RANGE" in text and "optimizer" in text, text)


def check(this):
    trace = cupti_case.traced(this, "marks", STEPS)
    check_rows(this, trace)
    check_summary(this, trace)


if __name__ == "__main__":
    case.run(check)
