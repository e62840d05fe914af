# SPDX-License-Identifier: Apache-2.0
"""The cost estimate of a trace is the number of calls times the cost of one here, as measured by mlrun bench, and names
what it leaves out. If the cost is unknown and cannot be stored, the summary says so without an estimate."""

import json
import math
import os
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


def measured(this, cache):
    """Costs stored by mlrun bench in `cache`. Classes that a noisy machine hid are missing; that of a call is there."""
    for seconds in (1, 2, 4, 8):
        done = this.run(case.MLRUN, "bench", "--seconds", seconds)
        this.equal("exit status of bench", done.returncode, 0, said=done.stderr)
        kept = list(cache.glob("mlrun/cost-*.json"))
        if kept:
            this.equal("one file", len(kept), 1)
            cost = json.loads(kept[0].read_text())
            if "call" in cost["cost_per_call_ns"]:
                return cost
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
    cache = this.path("cache")
    os.mkdir(cache)
    this.environment["XDG_CACHE_HOME"] = str(cache)
    kept = measured(this, cache)["cost_per_call_ns"]
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

    this.environment["XDG_CACHE_HOME"] = this.environment["HOME"] = os.devnull + "/nothing"
    tracing, text = traced(this)
    this.equal("no guess", tracing["cost"], None)
    this.true("it is said", "cost not known" in text, text)


if __name__ == "__main__":
    case.run(check)
