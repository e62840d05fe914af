# SPDX-License-Identifier: Apache-2.0
"""For children that leave by the exit system call, return from the function of clone, call exit or are killed, the trace has the
status that their parent's wait returned, for every kind of wait; without a wait the status is unknown."""

import os

from lib import case


def check(this):
    trace = this.trace(this.victim("ways_to_end"), options=["--lossless"])
    wanted = {}
    for line in trace.stdout.splitlines():
        pid, status = line.split()
        wanted[int(pid)] = None if status == "-" else int(status)
    rows = {row["pid"]: row for row in trace.rows("process")}
    this.true("all of them are known", set(wanted) <= set(rows), (wanted, rows))
    this.equal("status", {pid: rows[pid]["wait_status"] for pid in wanted}, wanted)
    ends = {pid: "no record" if status is None else "exit" if os.WIFEXITED(status) else "no exit"
            for pid, status in wanted.items()}
    this.equal("how they ended", {pid: rows[pid]["ended"] for pid in wanted}, ends)
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    killed, unknown = (sum(end == how for end in ends.values()) for how in ("no exit", "no record"))
    this.true("killed ones", f"{killed} processes were killed" in text, text)
    this.true("and others", f"{unknown} process ended without an exit record" in text, text)


if __name__ == "__main__":
    case.run(check)
