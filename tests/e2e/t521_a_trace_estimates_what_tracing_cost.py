# SPDX-License-Identifier: Apache-2.0
"""The cost estimate of a trace is the number of calls times the cost of one here, as measured by mlrun bench, and names
what it leaves out. The cost is kept beside the installed library and nowhere else; where it cannot be kept, a run measures it."""

import json
import math
import os
import shutil
import sys

from lib import case

MARKS = """
import ctypes
program = ctypes.CDLL(None)
for _ in range(500):
    program.mlrun_mark_push(b"step")
    program.mlrun_mark_pop()
for _ in range(3): program.mlrun_mark_instant(b"here")
"""
CALL_CLASSES = ("call", "path_call", "open", "fork", "exec", "thread")


def installed_alone(this):
    """Programs whose costs are this test's; the file of costs in their folder."""
    prefix = this.path("installed")
    for name in ("bin", "lib"):
        shutil.copytree(case.BUILD / name, prefix / name, symlinks=True, copy_function=os.link, ignore=shutil.ignore_patterns("mlrun-cost.json*"))
    case.MLRUN = prefix / "bin" / "mlrun"
    home = this.path("home")
    home.mkdir()
    this.environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    return prefix / "lib" / "mlrun-cost.json"


def measured(this, file):
    """Costs stored by mlrun bench. Classes that a noisy machine hid are missing; that of a call is there."""
    for seconds in (1, 2, 4, 8):
        done = this.run(case.MLRUN, "bench", "--seconds", seconds)
        if done.returncode == 125 and "and dropped" in done.stderr:
            continue
        this.equal("exit status of bench", done.returncode, 0, said=done.stderr)
        costs = json.loads(file.read_text()) if file.exists() else []
        this.equal("costs kept", len(costs), 1 if file.exists() else 0)
        if costs and "call" in costs[0]["cost_per_call_ns"]:
            return costs[0]
    raise case.Skip("too much else runs on this machine to measure")


def traced(this):
    trace = this.trace(this.victim("numbered"), this.data_file(), 700, "exit", status=7)
    report = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)
    return report["tracing"], this.run(case.MLRUN, "report", "--full", trace.folder).stdout


def check_marks_and_stacks(this, kept):
    """Each record of a mark is charged; what stacks cost is not measured."""
    trace = this.trace(sys.executable, "-c", MARKS, options=("--stacks",))
    cost = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)["tracing"]["cost"]
    charged = {line["class"]: line["calls"] for line in cost["classes"]}
    if "mark" in kept:
        this.equal("records of marks that are charged", charged["mark"], 2 * 500 + 3)
    else:
        this.true("they are counted as not measured", cost["calls_without_cost"] >= 2 * 500 + 3, cost)
    this.equal("what is left out", cost["left_out"], ["short waits", "stacks"])
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary says it", "without short waits and stacks" in " ".join(text.split()), text)


def check(this):
    file = installed_alone(this)
    kept = measured(this, file)["cost_per_call_ns"]
    tracing, text = traced(this)
    cost = tracing["cost"]
    this.equal("where it comes from", cost["source"], "bench")
    for line in cost["classes"]:
        this.equal("what was measured", line["cost_per_call_ns"], kept[line["class"]])
        this.true("calls x cost", math.isclose(line["cost_ns"], line["calls"] * line["cost_per_call_ns"]), line)
    this.true("their sum", math.isclose(cost["total_ns"], sum(line["cost_ns"] for line in cost["classes"])), cost)
    charged = {line["class"]: line["calls"] for line in cost["classes"]}
    this.true("the preads are charged", charged["call"] >= 700, charged)
    # What could not be measured on a noisy machine is reported as such, including records that are not calls.
    calls_charged = sum(charged.get(name, 0) for name in CALL_CLASSES)
    if all(name in kept for name in CALL_CLASSES):
        this.equal("each row is charged once", calls_charged, tracing["calls"])
    else:
        without = cost["calls_without_cost"]
        this.true("each row is charged once or told", calls_charged <= tracing["calls"] <= calls_charged + without, cost)
    this.true("the summary says it", "estimated cost" in text, text)
    this.equal("what is left out", cost["left_out"], ["short waits"])
    check_marks_and_stacks(this, kept)

    # No file can take the place of a folder.
    file.unlink()
    file.mkdir()
    tracing, text = traced(this)
    this.true("measured by the run", tracing["cost"]["source"] == "quick" if tracing["cost"] else "cost unknown" in text, tracing)
    this.equal("nothing is kept", (list(file.iterdir()), os.listdir(this.environment["HOME"])), ([], []))


if __name__ == "__main__":
    case.run(check)
