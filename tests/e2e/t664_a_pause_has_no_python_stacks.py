# SPDX-License-Identifier: Apache-2.0
"""With mlrun pause and resume no Python stack is sampled in between, of a thread that runs and of one that sleeps, and none after it stands for time of the pause;
the samples of the machine go on."""

import subprocess
import sys
import time

from lib import case

PROGRAM = """
import os, sys, threading

def sleeps(event):
    event.wait()

done = threading.Event()
thread = threading.Thread(target=sleeps, args=(done,))
thread.start()
while not os.path.exists(sys.argv[1]):
    sum(range(10000))
done.set()
thread.join()
"""
OPTIONS = ("--python-stacks", "--sample=machine")
PAUSE_S = 3
NOTED_NS = 200_000_000  # a round of the sampler may be in progress when the pause begins


def paused_run(this, out):
    program, end = this.path("program.py"), this.path("end")
    program.write_text(PROGRAM, encoding="utf-8")
    with subprocess.Popen(this.command(sys.executable, program, end, out=out, options=OPTIONS), env=this.environment, cwd=this.folder) as running:
        try:
            for verb, seconds in (("pause", PAUSE_S), ("resume", 2)):
                time.sleep(2 if verb == "pause" else 0)
                done = this.run(case.MLRUN, verb, out)
                this.equal(f"exit status of {verb}", done.returncode, 0, said=done.stderr)
                time.sleep(seconds)
        finally:
            end.touch()
        running.wait(60)
    this.equal("exit status", running.returncode, 0)


def check(this):
    out = this.new_trace()
    paused_run(this, out)
    trace = this.opened(out)
    (pause,) = (row for row in trace.rows("loss") if row["reason"] == "paused")
    rows = trace.rows("python_stack")
    inside = [row for row in rows if row["ts"] + row["dur"] > pause["first"] + NOTED_NS and row["ts"] < pause["last"]]
    this.equal("stacks in the pause", inside[:2], [])
    for when, some in (("before", [row for row in rows if row["ts"] < pause["first"]]), ("after", [row for row in rows if row["ts"] > pause["last"]])):
        this.equal(f"threads with stacks {when} it", len({row["tid"] for row in some}), 2)
    longest = max(row["period_ns"] / row["samples"] for row in rows)
    this.true("no sample stands for time of the pause", longest < PAUSE_S * 1e9 / 2, longest)
    machine = [row for row in trace.rows("sample_machine") if pause["first"] < row["ts"] < pause["last"]]
    this.true("the machine was sampled in the pause", machine, pause)


if __name__ == "__main__":
    case.run(check)
