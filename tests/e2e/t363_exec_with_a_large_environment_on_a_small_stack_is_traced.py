# SPDX-License-Identifier: Apache-2.0
"""A thread with a 16 KiB stack executes programs with thousands of variables without the library's, and with 200
arguments: they run as untraced and are traced, and nothing mapped for the exec is left in the parent."""

from lib import case


def check(this):
    for how in ("spawn", "vfork", "fork", "execl"):
        for entries in (20, 1500, 3500):
            trace = this.untraced_and_traced(this.victim("small_exec"), how, entries)
            shells = [row for row in trace.rows("process") if row["command"].startswith("sh -c") and not row["forked"]]
            this.equal(f"traced shells by {how} with {entries}", len(shells), 3)


if __name__ == "__main__":
    case.run(check)
