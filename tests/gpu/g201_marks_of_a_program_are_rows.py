# SPDX-License-Identifier: Apache-2.0
"""Ranges and marks by NVTX and by mlrun_mark.h each have a row with the enclosing range, and the program runs as
without mlrun."""

from collections import Counter

from gpu_case import need_nvtx_program, report
from lib import case

STEPS = 500


def inside(inner, outer):
    return outer["ts"] <= inner["ts"] and inner["ts"] + (inner["dur"] or 0) <= outer["ts"] + outer["dur"]


def check(this):
    program = need_nvtx_program()
    trace = this.trace(program, "known", STEPS)
    names = trace.names
    rows = trace.rows("mark")
    by_name = {}
    for row in sorted(rows, key=lambda row: row["ts"]):
        by_name.setdefault((row["domain"], names.get(row["name_id"])), []).append(row)
    wanted = {("nvtx", "step"): STEPS, ("api", "inner"): STEPS, ("api", "here"): STEPS, ("api", "in the child"): 1,
              ("nvtx:Communication", "all_reduce"): 1, ("nvtx", "gr\u00fc\u00dfe \U0001f600"): 1, ("nvtx", "x" * 1020): 1,
              ("nvtx", ""): 1, ("nvtx", "with\nnewline"): 1, ("nvtx", "handed over"): 1, ("nvtx", "left open"): 1}
    this.equal("marks", Counter({key: len(found) for key, found in by_name.items()}), Counter(wanted))
    for step, inner, here in zip(by_name["nvtx", "step"], by_name["api", "inner"], by_name["api", "here"], strict=True):
        this.true("the point lies in both ranges", here["dur"] is None and inside(here, step) and inside(here, inner), here)
        this.true("the ranges overlap as they were made", step["ts"] <= inner["ts"] <= step["ts"] + step["dur"]
                  <= inner["ts"] + inner["dur"], (step, inner))
    reduce = by_name["nvtx:Communication", "all_reduce"][0]
    this.equal("payload", (reduce["value"], reduce["scope"]), ("-42", "thread"))
    this.equal("scope of a range of the process", by_name["nvtx", "handed over"][0]["scope"], "process")
    left = by_name["nvtx", "left open"][0]
    this.true("a range without an end lasts until the run's end", left["open"] and left["dur"] > 0, left)
    this.true("in the child", by_name["api", "in the child"][0]["proc_id"] != left["proc_id"])
    this.equal("an end without a range is counted", trace.run["totals"]["unmatched_mark_ends"], 1)
    this.equal("losses", trace.rows("loss"), [])

    marks = {(mark["domain"], mark["name"]): mark for mark in report(this, trace)["marks"]}
    step = marks["nvtx", "step"]
    this.equal("count in the report", step["count"], STEPS)
    this.equal("time in the report", step["time_ns"], sum(row["dur"] for row in by_name["nvtx", "step"]))
    this.equal("points in the report", (marks["api", "here"]["count"], marks["api", "here"]["time_ns"]), (STEPS, None))

    killed = this.trace(program, "killed", status=128 + 9)
    this.equal("the range in which it was killed",
               [(killed.names[row["name_id"]], row["open"]) for row in killed.rows("mark")], [("killed in here", True)])
    without = this.trace(program, "known", 5, options=["--preload=files"])
    this.equal("marks that were not asked for", without.rows("mark"), [])
    untraced = this.run(program, "known", 5)
    this.equal("without mlrun", (untraced.returncode, untraced.stdout), (0, ""))


if __name__ == "__main__":
    case.run(check)
