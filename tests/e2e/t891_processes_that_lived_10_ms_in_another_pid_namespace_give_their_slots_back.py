# SPDX-License-Identifier: Apache-2.0
"""As t888, in a pid namespace that mlrun is outside of, with children that live for 10 ms: they have ended before mlrun looks for them, and their slots are
given to others all the same."""

from lib import bursts, case

BURSTS = 4
PROGRAM = bursts.program(BURSTS, "block = bytearray(2 << 20); time.sleep(0.01)", 2)


def check(this):
    case.need_pid_namespace()
    program = ("unshare", "-pf", "--mount-proc", "/usr/bin/python3", "-c", PROGRAM)
    trace = this.trace(*program, options=("--preload=off", *bursts.rules("2M")))
    this.equal("processes that are not counted", trace.run["placement"]["not_counted"], 0)
    rows = [row for row in trace.rows("placement") if row["matches"]]
    this.equal("blocks", sum(row["matches"] for row in rows), BURSTS * bursts.EACH)
    this.equal("ended processes are one row", sum(row["pid"] is None for row in rows), 1)
    this.true("slots", len(rows) <= bursts.SLOTS, rows)


if __name__ == "__main__":
    case.run(check)
