# SPDX-License-Identifier: Apache-2.0
"""A thread of 16 KiB of stack executes programs with thousands of variables that lack the library, and with 200 arguments: they run as
untraced, are traced, and nothing of what was mapped for it stays in a parent that goes on."""

from lib import case


def check(this):
    for how in ("spawn", "vfork", "fork", "execl"):
        for entries in (20, 1500, 3500):
            trace = this.untraced_and_traced(this.victim("small_exec"), how, entries)
            shells = [row for row in trace.rows("process") if row["command"].startswith("sh -c") and not row["forked"]]
            this.equal(f"traced shells by {how} with {entries}", len(shells), 3)


if __name__ == "__main__":
    case.run(check)
