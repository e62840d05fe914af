# SPDX-License-Identifier: Apache-2.0
"""A loop that runs a command after each step waits for that command and not for a batch; one whose output is read slowly waits for the
reader of its pipe. The report states both, and why no steps are known."""

import json
import sys

from lib import case

# 40 ms in Python, then a command that computes.
COMMANDS = """
import subprocess, time
def step():
    end = time.monotonic() + 0.04
    while time.monotonic() < end:
        sum(range(1000))
for number in range(40):
    step()
    subprocess.run(["/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"], check=True)
"""
# 100 KiB after each step, of which the reader takes 4 KiB in 2 ms.
PRINTS = """
import time
for number in range(40):
    time.sleep(0.01)
    print("x" * 100_000, flush=True)
"""
READER = "import os, time\nwhile os.read(0, 4096):\n    time.sleep(0.002)\n"


def report_of(this, out):
    text, made = this.run(case.MLRUN, "report", out), this.run(case.MLRUN, "report", out, "--json")
    this.equal("exit status of report", (text.returncode, made.returncode), (0, 0), said=text.stderr + made.stderr)
    return text.stdout, json.loads(made.stdout)


def share(report, *activities):
    times = report["time"]
    return sum(row["ns"] for row in times if row["activity"] in activities) / sum(row["ns"] for row in times)


def check(this):
    out = this.path("commands")
    done = this.run(case.MLRUN, "-o", out, sys.executable, "-c", COMMANDS)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    text, report = report_of(this, out)
    first = report["findings"][0]
    this.true("the command is named, and how often it ran", "commands that it ran: 40 times sh" in first["claim"], first)
    this.true("it is no wait for a batch", share(report, "wait", "receive", "loader") < 0.1, report["time"])
    this.true("no steps, and why", report["steps"]["count"] == 0 and "mlrun_mark" in report["steps"]["why_unknown"], report["steps"])
    this.true("the summary says so", "steps: unknown: " in text, text)

    out = this.path("prints")
    script, reader = this.path("prints.py"), this.path("reader.py")
    script.write_text(PRINTS)
    reader.write_text(READER)
    shell = f"{case.MLRUN} -o {out} {sys.executable} {script} 2>{this.path('said')} | {sys.executable} {reader}"
    done = this.run("/bin/sh", "-c", shell)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    _, report = report_of(this, out)
    first = report["findings"][0]
    this.equal("what the loop waits for", first["cause"], "logging", said=str(first))
    this.true("it is the reader of its output", "its output was read" in first["claim"], first)
    this.true("most of the time is that", share(report, "logging") > 0.4, report["time"])


if __name__ == "__main__":
    case.run(check)
