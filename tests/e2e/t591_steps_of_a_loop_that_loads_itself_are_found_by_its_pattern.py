# SPDX-License-Identifier: Apache-2.0
"""A loop without a framework reads eight files for each batch and rests after it: each batch begins a step, and the longest step is named with
what was longer in it. A program without such a pattern has no steps."""

import json
import sys

from lib import case

LOOP = """
import json, os, sys, time
folder = sys.argv[1]
for number in range(8):
    with open(f"{folder}/{number}.bin", "wb") as file:
        file.write(bytes(5000))
time.sleep(0.2)
begins = []
for step in range(40):
    for number in range(8):
        with open(f"{folder}/{number}.bin", "rb") as file:
            file.read()
    begins.append(time.monotonic_ns())
    time.sleep(0.5 if step == 20 else 0.04)
print(json.dumps(begins))
"""
COMPUTING = """
import time
end = time.monotonic() + 1.5
while time.monotonic() < end:
    sum(range(1000))
"""


def traced(this, program, *words):
    out = this.new_trace()
    done = this.run(case.MLRUN, "-o", out, sys.executable, "-c", program, *words)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    report = this.run(case.MLRUN, "report", out, "--json")
    this.equal("exit status of report", report.returncode, 0, said=report.stderr)
    return out, json.loads(report.stdout)["steps"], done.stdout


def check(this):
    data = this.path("data")
    data.mkdir()
    out, steps, printed = traced(this, LOOP, data)
    begins = json.loads(printed)
    this.equal("steps", (steps["count"], steps["from"]), (len(begins), "pattern"), said=str(steps))
    this.true("most of them are clear", steps["sure"] > 0.5, steps)
    rows = this.run(case.MLRUN, "show", out, "step", "--columns", "ts", "--absolute", "--json").stdout.splitlines()
    found = [json.loads(line)["ts"] for line in rows]
    near = [abs(begin - said) < 20_000_000 for begin, said in zip(begins, found, strict=True)]
    this.true("steps begin when the loop has its batch", sum(near) >= 38, found)
    slowest = steps["slowest"][0]
    this.equal("the longest step", (slowest["step"], slowest["longer"]), (21, "computing"), said=str(slowest))
    text = this.run(case.MLRUN, "report", out, "--full").stdout
    this.true("the summary names it", "SLOWEST STEPS" in text and "21 at " in text, text)
    _, none, _ = traced(this, COMPUTING)
    this.equal("a program that only computes has no steps", (none["count"], none["from"], none["slowest"]), (0, None, []))


if __name__ == "__main__":
    case.run(check)
