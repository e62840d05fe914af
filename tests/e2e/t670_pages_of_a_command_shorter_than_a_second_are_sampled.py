# SPDX-License-Identifier: Apache-2.0
"""A command that lives 0.6 s has rows of page_node: of its blocks by a rule, and of its memory under a policy; and so has a process that it starts."""

import sys

from lib import case

MIB = 1 << 20
HOLD = f"""
import subprocess, sys, time
held = [bytearray(8 * {MIB}) for _ in range(4)]
if sys.argv[1:]: subprocess.run([sys.executable, "-c", "import time; held = bytearray(16 * {MIB}); time.sleep(0.8)"], check=True)
else: time.sleep(0.6)
"""


def check(this):
    placed = this.trace(sys.executable, "-c", HOLD, options=("--place", "-> default"))
    refused = [one["why"] for process in placed.run["placement"]["processes"] for one in process["unsampled"] if "refuses" in one["why"]]
    if refused:
        raise case.Skip(refused[0])
    rows = placed.rows("page_node")
    this.equal("rules", {row["rule"] for row in rows}, {0})
    this.true("its blocks", 30 * MIB <= sum(row["bytes"] for row in rows) <= 64 * MIB, rows)
    under = this.trace(sys.executable, "-c", HOLD, "child", options=("--preferred", "0"))
    rows = [row for row in under.rows("page_node") if row["file"] is None]
    this.equal("a row for each process", len({row["pid"] for row in rows}), 2)


if __name__ == "__main__":
    case.run(check)
