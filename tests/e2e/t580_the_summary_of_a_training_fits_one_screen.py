# SPDX-License-Identifier: Apache-2.0
"""The summary of a training has at most 45 lines of 100 columns, in the order of what a person asks, and fits terminals of 60 to
200 columns; the commands that it names show rows; the driver's time adds up to the wall time."""

import json
import re

from lib import case, training
from lib.summary_text import blocks, commands, on_terminal

ORDER = ["WHERE THE TIME WENT", "FINDINGS", "WHO WAITED FOR WHOM", "WHERE PYTHON WAS", "FILES BY TIME", "PROCESSES", "PHASES", "SLOWEST STEPS",
         "LOST OR NOT SEEN", "REMARKS"]
NEEDED = ["WHERE THE TIME WENT", "FINDINGS", "FILES BY TIME", "PROCESSES", "PHASES"]


def check_time(this, shown, trace):
    report = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)
    this.equal("version", report["schema_version"], 3)
    wall_ns = report["driver"]["wall_ns"]
    this.equal("time by activity and state", sum(row["ns"] for row in report["time"]), wall_ns)
    this.equal("time in table blame", sum(row["ns"] for row in trace.rows("blame")), wall_ns)
    rows = [line for line in shown["WHERE THE TIME WENT"] if line.endswith("%") and "without a batch" not in line]
    percent = sum(float(line.split()[-2].strip("<>")) for line in rows)
    this.true("shares as printed", 98 < percent < 102, rows)
    phases = {row["name"]: row for row in report["phases"]}
    parts = [row["wait_ns"] + row["compute_ns"] <= row["end_ns"] - row["start_ns"] + 1 for row in phases.values()]
    this.true("waiting and computing of phases", all(parts) and phases["epoch 1"]["compute_ns"] > 0, phases)
    total = sum(row["totals"]["time_ns"] for row in report["file_trees"])
    this.true("time of trees", total >= report["totals"]["files"]["time_ns"], total)


def check_commands(this, lines):
    named = commands(lines)
    this.true("commands of findings", named, lines)
    for words in named:
        done = this.run(case.MLRUN, *words[1:], cwd=this.folder)
        this.true(f"{words}: rows", done.returncode == 0 and len(done.stdout.splitlines()) > 1, done.stdout + done.stderr)


def check(this):
    training.need_torch()
    data, log = training.data_set(this), this.path("mllog.txt")
    out = this.path("run")
    command = training.command(data, "--workers", 2, "--mllog", log, "--checkpoint-dir", this.path("checkpoints"))
    done = this.run(case.MLRUN, "--preload", "--python-stacks", "--quiet", "-o", out, "--mllog", log, *command)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    trace = case.Trace(out)
    lines = on_terminal(this, 100, "report", "run")  # a short name, as a person has it
    this.true("45 lines", len(lines) <= 45, "\n".join(lines))
    shown = blocks(lines)
    this.equal("order of blocks", list(shown), [name for name in ORDER if name in shown])
    this.equal("blocks that are not there", [name for name in NEEDED if name not in shown], [])
    this.equal("empty blocks", [name for name, rows in shown.items() if not rows], [])
    this.true("the word TRACE", not re.search(r"\bTRACE\b", "\n".join(lines)), lines)
    this.true("imports in one row", sum("imports " in line for line in shown["FILES BY TIME"]) == 1, shown)
    check_commands(this, lines)
    check_time(this, shown, trace)
    for columns in (60, 80, 100, 200):
        for full in ([], ["--full"]):
            printed = on_terminal(this, columns, "report", *full, "run")
            wide = [line for line in printed if len(line) > columns]
            this.equal(f"{full} lines wider than {columns}", wide, [])


if __name__ == "__main__":
    case.run(check)
