# SPDX-License-Identifier: Apache-2.0
"""Idle time of a GPU by the program's steps, whichever of its threads launches: each step has the parts of the gaps
within it, and the slow step is first in the list of the worst, with what was to blame."""

import statistics
import sys

from gpu_case import report
from lib import case

import cupti_case
from mock_kernels import MOCK_KERNELS

STEPS, SLOW_STEP, QUICK_S, SLOW_S, KERNEL_NS = 12, 7, 0.01, 1.0, 200_000

PROGRAM = MOCK_KERNELS + """
import queue, sys, threading, time
import mlrun_mark
way, steps, slow_step, kernel_ns = sys.argv[1], *map(int, sys.argv[2:5])
quick_s, slow_s = map(float, sys.argv[5:])

def work(seconds):
    time.sleep(seconds)
    launch(b"_Z5trainv", kernel_ns)
def in_thread(seconds):
    thread = threading.Thread(target=work, args=(seconds,))
    thread.start()
    thread.join()
work(0)
for step in range(steps):
    with mlrun_mark.range(f"train_step {step}"):
        (work if way == "main" else in_thread)(slow_s if step == slow_step else quick_s)
    with mlrun_mark.range("optimizer.step"):
        time.sleep(quick_s)
"""


def steps_of(trace):
    names = trace.names
    rows = [row for row in trace.rows("mark") if names[row["name_id"]].startswith("train_step")]
    return sorted((row["ts"], row["ts"] + row["dur"], names[row["name_id"]]) for row in rows)


def idle_in(trace, start, end):
    """By the kernels' own table: gaps of 10 us and more."""
    kernels = sorted((row["ts"], row["ts"] + row["dur"]) for row in trace.rows("gpu_kernel"))
    gaps = [(a, b) for (_, a), (b, _) in zip(kernels, kernels[1:]) if b - a >= 10_000]
    return sum(max(0, min(b, end) - max(a, start)) for a, b in gaps)


def check_way(this, way):
    environment = cupti_case.mock_environment(this, 13)
    environment["PYTHONPATH"] = str(case.SOURCE / "runner" / "python")
    trace = this.trace(sys.executable, "-c", PROGRAM, way, STEPS, SLOW_STEP, KERNEL_NS, QUICK_S, SLOW_S,
                       options=["--cupti", "--preload", "--lossless"], env=environment)
    wanted = {name: idle_in(trace, start, end) for start, end, name in steps_of(trace)}
    this.equal("steps", len(wanted), STEPS)
    reported = report(this, trace)["gpu_steps"]
    worst = reported["worst"]
    this.equal("idle time of each step", {row["name"]: row["idle_ns"] for row in worst},
               {name: ns for name, ns in wanted.items() if ns})
    this.true("labels add up", all(sum(row["idle"].values()) == row["idle_ns"] for row in worst), worst)
    this.equal("worst first", [row["idle_ns"] for row in worst], sorted((row["idle_ns"] for row in worst), reverse=True))
    slow = worst[0]
    this.equal("the slow step", (slow["name"], slow["number"]), (f"train_step {SLOW_STEP}", SLOW_STEP + 1))
    [process] = {row["proc_id"] for row in trace.rows("gpu_kernel")}
    this.equal("who was to blame", (slow["blamed"]["label"], slow["blamed"]["proc_id"]), ("waiting", process))
    this.true("for most of it", slow["blamed"]["time_ns"] >= 0.9 * SLOW_S * 1e9, slow)
    [gpu] = reported["devices"]
    this.equal("of the GPU", (gpu["steps"], gpu["idle_ns"], gpu["idle_max_ns"], reported["left_out"]),
               (STEPS, sum(wanted.values()), max(wanted.values()), 0))
    median = statistics.median_low(sorted(wanted.values()))
    this.true("median", abs(gpu["idle_p50_ns"] - median) <= 0.016 * median + 1, (gpu, median))
    said = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary says so", "GPU IDLE PER STEP" in said and f"train_step {SLOW_STEP} (no. {SLOW_STEP + 1})" in said, said)


def check(this):
    for way in ("main", "thread"):
        check_way(this, way)


if __name__ == "__main__":
    case.run(check)
