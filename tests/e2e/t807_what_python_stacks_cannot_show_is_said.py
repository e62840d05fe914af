# SPDX-License-Identifier: Apache-2.0
"""A Python that is not known is named once for its processes, a program that is no Python has no stacks and nothing is
said, wrong options are one clear line; and the program does not change."""

import sys

from lib import case, pythons


def check_options(this):
    for options, said in (
            (["--python-stacks=0"], "--python-stacks=0: the looks a second must be a number"),
            (["--python-stacks=many"], "--python-stacks=many"),
            (["--preload=off", "--sample", "--python-stacks"], "add --preload or --cupti"),
            (["--summary-only", "--python-stacks"], "--python-stacks"),
            (["--kprobes", "--pid", "1", "--python-stacks"], "--python-stacks")):
        done = this.run(case.MLRUN, *options, "--", "true")
        this.equal("exit status", done.returncode, 125, said=done.stderr)
        this.true("what is said", said in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def check_unknown(this):
    others = {version: python for version, python in pythons.interpreters().items() if version not in pythons.known()}
    for version, python in others.items():
        trace = this.trace(python, "-c", "import time; time.sleep(0.5)", options=["--python-stacks"])
        rows = trace.covers("Python stacks")
        this.equal(f"rows of {version}", len(rows), 1)
        this.true("what they say", "3.11, 3.12 and 3.13" in rows[0]["detail"] and rows[0]["proc_id"] > 0, rows)
        this.equal("stacks", trace.rows("python_stack"), [])
    print("not known:", *others)


def check(this):
    check_options(this)
    check_unknown(this)
    trace = this.trace("sleep", "0.3", options=["--python-stacks"])
    this.equal("stacks of another program", trace.rows("python_stack"), [])
    this.equal("nothing is missing", trace.covers("Python stacks"), [])
    this.equal("losses", trace.rows("loss"), [])
    program = "import os, time; [time.sleep(0.001) for _ in range(300)]; print(os.listdir('/proc/self/task') != [])"
    trace = this.untraced_and_traced(sys.executable, "-c", program, options=["--python-stacks=200"])
    this.true("its own stacks are there", trace.rows("python_stack"))
    about = trace.run["python_stacks"]
    # Two hundredths of a processor, and what may be saved up before.
    this.true("the share of a processor", about["cpu_ns"] <= trace.run["wall_ns"] * 0.02 + 200e6, about)


if __name__ == "__main__":
    case.run(check)
