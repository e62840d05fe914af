# SPDX-License-Identifier: Apache-2.0
"""An unknown version of Python is named once for all its processes, and so is a process whose stacks cannot be read; a
program that is not Python has no stacks and no message; wrong options give one clear line; the program is not
affected."""

import sys

from lib import case, pythons


def check_options(this):
    for options, said in (
            (["--python-stacks=0"], "--python-stacks=0: the samples a second must be a number"),
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
        this.true("what they say", "3.11, 3.12, 3.13, 3.14 and 3.15" in rows[0]["detail"] and rows[0]["proc_id"] > 0, rows)
        this.equal("stacks", trace.rows("python_stack"), [])
    print("not known:", *others)


# The child's stacks have a frame whose file's name is no plain text: none that is read is believed. It opens a file, since
# a process is looked at from its first recorded call on.
UNREADABLE = """
import os, sys, time
class Name(str):
    pass
def sleep():
    time.sleep(2)
    os._exit(0)
code = compile("sleep()", "child.py", "exec")
code = code.replace(co_filename=Name("child.py"))
if os.fork() == 0:
    open(os.devnull).close()
    exec(code)
os.wait()
"""


def check_unreadable(this):
    for version, python in pythons.known().items():
        trace = this.trace(python, "-c", UNREADABLE, options=["--python-stacks"])
        rows = trace.covers("Python stacks")
        this.equal(f"rows of {version}", len(rows), 1)
        [child] = [row["proc_id"] for row in trace.rows("process") if row["forked"]]
        this.equal("whose they are", rows[0]["proc_id"], child)
        this.true("what they say", "none of their stacks could be read" in rows[0]["detail"], rows)
        this.true("they were discarded", trace.run["python_stacks"]["discarded"] > 0, trace.run["python_stacks"])


def check(this):
    check_options(this)
    check_unknown(this)
    check_unreadable(this)
    trace = this.trace("sleep", "0.3", options=["--python-stacks"])
    this.equal("stacks of another program", trace.rows("python_stack"), [])
    this.equal("nothing is missing", trace.covers("Python stacks"), [])
    this.equal("losses", trace.rows("loss"), [])
    program = "import os, time; [time.sleep(0.001) for _ in range(300)]; print(os.listdir('/proc/self/task') != [])"
    trace = this.untraced_and_traced(sys.executable, "-c", program, options=["--python-stacks=200"])
    this.true("its own stacks are there", trace.rows("python_stack"))


if __name__ == "__main__":
    case.run(check)
