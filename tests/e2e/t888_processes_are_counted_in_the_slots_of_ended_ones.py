# SPDX-License-Identifier: Apache-2.0
"""With 64 rules there is room for the counts of 32 processes at a time. 56 processes that begin in bursts are all counted: once more than half of the room is
used, those that have ended are counted together, and their blocks are in the figures of the summary."""

import json

from lib import bursts, case

BURSTS = 4
BLOCKS = BURSTS * bursts.EACH
PROGRAM = bursts.program(BURSTS, "block = bytearray(2 << 20)", 2)


def check(this):
    trace = this.trace("/usr/bin/python3", "-c", PROGRAM, options=("--preload=off", *bursts.rules("2M")))
    this.equal("processes that are not counted", trace.run["placement"]["not_counted"], 0)
    rows = [row for row in trace.rows("placement") if row["matches"]]
    this.equal("blocks", sum(row["matches"] for row in rows), BLOCKS)
    together = [row for row in rows if row["pid"] is None]
    this.true("ended processes are one row", len(together) == 1 and len(rows) <= bursts.SLOTS, rows)
    this.true("the largest of them", 2 << 20 <= together[0]["peak_bytes"] < 3 << 20, together)
    this.equal("pids", len({row["pid"] for row in rows}), len(rows))
    reported = json.loads(this.run(case.MLRUN, "report", trace.folder, "--json").stdout)["placement"]
    this.equal("report --json", (reported["rules"][0]["matches"], reported["not_counted"]), (BLOCKS, 0))


if __name__ == "__main__":
    case.run(check)
