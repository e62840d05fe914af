# SPDX-License-Identifier: Apache-2.0
"""Default Python stacks print nothing and report no gap for programs that are not Python, where they are off, and where
the kernel refuses them, which only `coverage` states; doctor reports whether they work."""

import sys

from lib import case

UNDUMPABLE = """
import ctypes, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
time.sleep(0.7)
"""


def check_refused(this):
    case.need_root()
    without = ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]
    case.need_command(*without, "true")
    for options, reported in ((), False), (("--python-stacks",), True):
        out = this.new_trace()
        done = this.run(*without, *this.command(sys.executable, "-c", UNDUMPABLE, out=out, options=options))
        this.equal("what is said", (done.returncode, done.stderr), (0, ""), said=done.stderr)
        trace = this.opened(out)
        rows = [row for row in trace.rows("coverage") if row["subject"] == "Python stacks"]
        this.equal("who has no stacks", [(row["level"], "does not allow" in row["detail"]) for row in rows], [("remark", True)])
        this.equal("by name", trace.run["python_stacks"]["by_name"], reported)


def check(this):
    trace = this.trace("sleep", "0.3")
    this.equal("another program", (trace.stderr, trace.rows("python_stack"), trace.rows("coverage"), trace.rows("loss")), ("", [], [], []))
    program = "import time; time.sleep(1.2)"
    trace = this.trace(sys.executable, "-c", program)
    this.true("Python", trace.rows("python_stack") and trace.stderr == "", trace.stderr)
    trace = this.trace(sys.executable, "-c", program, options=["--python-stacks=off"])
    this.equal("stacks that are off", (trace.rows("python_stack"), trace.run.get("python_stacks")), ([], None))
    this.true("threads are sampled all the same", trace.rows("sample_thread"))
    trace = this.trace(sys.executable, "-c", program, options=["--sample=off", "--python-stacks=off"])
    this.equal("everything off", (trace.rows("sample_thread"), trace.rows("sample_machine"), trace.run.get("sampler")), ([], [], None))
    doctor = this.run(case.MLRUN, "doctor").stdout
    this.true("doctor says whether they work", "Python stacks" in doctor, doctor)
    check_refused(this)


if __name__ == "__main__":
    case.run(check)
