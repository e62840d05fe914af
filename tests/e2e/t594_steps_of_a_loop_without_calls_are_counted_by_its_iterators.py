# SPDX-License-Identifier: Apache-2.0
"""Loops that compute their batches themselves leave no call. The positions of their iterators in stack samples count the steps, whatever the
iterator is: a generator that takes three items at once, an object with attributes, a range. A loop that is left early has no known number."""

import bisect
import json
import sys

from lib import case

COMMON = """
import itertools, json, sys, time
begins = []
def load_batch(s):
    spend(s)
def spend(s):
    end = time.monotonic() + s
    while time.monotonic() < end:
        sum(range(100))
def train():
    begins.append(time.monotonic_ns())
    spend(0.015)
"""
LOOPS = {
    "by a generator": """
def batches(count):
    items = iter(range(count))
    while batch := list(itertools.islice(items, 3)):
        load_batch(0.015)
        yield batch
for epoch in range(2):
    for number, batch in enumerate(batches(102)):
        train()
""",
    "by an object": """
class Loader:
    def __init__(self, paths):
        self.paths, self.name = iter(paths), "loader"
    def __iter__(self):
        return self
    def __next__(self):
        path = next(self.paths)
        load_batch(0.015)
        return path
def main():
    for path in Loader([str(k) for k in range(70)]):
        train()
main()
""",
    "by a range": """
for step in range(70):
    load_batch(0.01)
    train()
""",
}
LEFT = """
for step in range(1000):
    load_batch(0.01)
    train()
    if step == 69:
        break
"""


def traced(this, program):
    out = this.new_trace()
    done = this.run(case.MLRUN, "-o", out, sys.executable, "-c", COMMON + program + "\nprint(json.dumps(begins))")
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    report = this.run(case.MLRUN, "report", out, "--json")
    this.equal("exit status of report", report.returncode, 0, said=report.stderr)
    rows = this.run(case.MLRUN, "show", out, "step", "--columns", "ts", "--absolute", "--json").stdout.splitlines()
    return json.loads(report.stdout)["steps"], json.loads(done.stdout), [json.loads(line)["ts"] for line in rows]


def check(this):
    if sys.version_info[:2] != (3, 11):
        raise case.Skip("positions of iterators are read from CPython 3.11 only")
    for name, program in LOOPS.items():
        for _ in range(3):  # where other tests take the processors, samples may be too few to know
            steps, begins, found = traced(this, program)
            if steps["count"]:
                break
        this.equal(f"{name}: steps", (steps["count"], steps["from"]), (len(begins), "loops"), said=str(steps))
        # How far samples are apart depends on the machine: by how many steps begins are off, the median.
        off = sorted(abs(bisect.bisect(begins, said) - number) for number, said in enumerate(found))
        this.true(f"{name}: begins lie where they should", off[len(off) // 2] <= 4, (begins, found))
    steps, _, _ = traced(this, LEFT)
    this.equal("a loop that is left early", (steps["count"], steps["from"]), (0, None), said=str(steps))


if __name__ == "__main__":
    case.run(check)
