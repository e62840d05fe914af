# SPDX-License-Identifier: Apache-2.0
"""A program whose memory is one large table of NumPy: a rule by size places four fifths of what is resident and more, the summary says how much, and the
program computes what it does untraced."""

import re
import sys

from lib import case

MIB = 256
EMBEDDING = f"""
import time, numpy
rows = {MIB} << 10
random = numpy.random.default_rng(7)
table = numpy.empty((rows, 256), numpy.float32)
for part in numpy.split(table, 16):
    random.random(out=part, dtype=numpy.float32)
total, steps, until = 0.0, 0, time.monotonic() + 4
while steps < 50 or time.monotonic() < until:
    batch = table[random.integers(0, rows, 4096)]
    if steps < 50:
        total += float(batch.sum(dtype=numpy.float64))
    steps += 1
print(total)
"""


def check(this):
    program = (sys.executable, "-c", EMBEDDING)
    plain = this.run(*program)
    out = this.new_trace()
    done = this.run(*this.command(*program, out=out, options=("--place", "size >= 1M -> node 0")))
    this.equal("it prints", (done.stdout, done.returncode), (plain.stdout, 0), said=done.stderr)
    (process,) = this.opened(out).run["placement"]["processes"]
    this.equal("blocks that were not placed", process["rules"][0]["fallbacks"], 0)
    resident = {page["resident_bytes"] for page in process["pages"]}
    share = sum(page["bytes"] for page in process["pages"]) / max(resident)
    print("placed of what is resident", share)
    this.true("four fifths of what is resident", 0.8 <= share <= 1, process)
    said = re.search(r"([0-9.]+) % of what is resident", this.run(case.MLRUN, "report", out).stdout.replace("\n", " "))
    this.true("the summary says so", said and abs(float(said[1]) / 100 - share) < 0.01, said)


if __name__ == "__main__":
    case.run(check)
