# SPDX-License-Identifier: Apache-2.0
"""Without an option the lines of Python have the time that the program measured for them, in the thread that drives and
in workers, although these are sampled at other rates; the sampler stays within its share of a processor."""

import json
import sys
from collections import Counter

from lib import case
from lib.python_stacks import PythonStacks

PROGRAM = """
import json, multiprocessing, os, sys, time

def computes(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass

def sleeps(seconds):
    time.sleep(seconds)

def works(times):
    begin = time.monotonic_ns()
    spent = {"computes": 0, "sleeps": 0}
    for _ in range(times):
        for what, seconds in ((computes, 0.13), (sleeps, 0.31)):
            before = time.monotonic_ns()
            what(seconds)
            spent[what.__name__] += time.monotonic_ns() - before
    return begin, time.monotonic_ns(), spent

def main():
    context = multiprocessing.get_context("fork")
    with context.Pool(int(sys.argv[1])) as pool:
        answers = [pool.apply_async(works, (10,)) for _ in range(int(sys.argv[1]))]
        said = {os.getpid(): works(10)}
        for worker, answer in zip(pool._pool, answers):
            answer.get()
    print(json.dumps(said))

main()
"""
# Samples hit by chance: this is three standard errors and more of the about 90 of a run.
TOLERANCE = 0.2


def function_of(stacks, row):
    return next((function for _, function, _ in stacks.steps(row) if function in ("computes", "sleeps")), "other")


def check_run(this, workers):
    program = this.path("program.py")
    program.write_text(PROGRAM, encoding="utf-8")
    trace = this.trace(sys.executable, program, workers)
    [(pid, (begin, end, spent))] = json.loads(trace.stdout).items()
    stacks = PythonStacks(trace)
    time_ns, states = Counter(), Counter()
    for row in stacks.within(begin, end):
        if row["pid"] == row["tid"] == int(pid):
            time_ns[function_of(stacks, row)] += row["period_ns"]
            states[function_of(stacks, row), row["state"]] += row["samples"]
            this.equal("running is the state R", row["running"], int(row["state"] == "R"))
    whole = sum(time_ns.values())
    this.true("they stand for the time of the loop", abs(whole / (end - begin) - 1) < TOLERANCE, (time_ns, end - begin))
    for name, wanted in spent.items():
        this.true(f"{name}: its share", abs(time_ns[name] / whole - wanted / (end - begin)) < TOLERANCE, (time_ns, spent))
    this.true("what sleeps, sleeps", states["sleeps", "S"] > states["sleeps", "R"], states)
    this.true("what computes, runs", states["computes", "R"] > states["computes", "S"], states)
    seen = {row["pid"] for row in stacks.rows if function_of(stacks, row) != "other"}
    this.true("the workers are sampled too", len(seen) >= 1 + (workers > 0), seen)
    sampler = trace.run["sampler"]
    this.equal("the budget", sampler["share_max"], 0.005)
    # Beside the share: what is saved when it begins, and one search for the interpreter.
    this.true("within it", sampler["cpu_ns"] <= 0.005 * sampler["wall_ns"] + 40e6, sampler)
    this.equal("losses", trace.rows("loss"), [])
    this.equal("nothing is said", [row for row in trace.rows("coverage") if row["subject"] == "Python stacks"], [])


def check(this):
    for workers in (1, 4):
        check_run(this, workers)


if __name__ == "__main__":
    case.run(check)
