# SPDX-License-Identifier: Apache-2.0
"""A static child has one coverage line, which is a remark if the kernel's totals show no I/O; with I/O it is reported
as not fully seen. A child in its own pid namespace is recorded, and nothing is reported as missing."""

import sys

from lib import case

SPAWNS = """
import subprocess, sys
for command in ([sys.argv[1], sys.argv[2], sys.argv[3], "exit"], ["/bin/cat", "/etc/hostname"], ["/bin/cat", "/etc/hostname"]):
    subprocess.run(command, stdout=subprocess.DEVNULL)
"""


def check(this):
    data, static = this.data_file(), this.victim("numbered_static")
    quiet = this.trace(sys.executable, "-c", SPAWNS, static, data, 10, options=["--lossless"])
    rows = [row for row in quiet.rows("coverage") if "child" in row["subject"] or static in row["subject"]]
    this.equal("lines about it", [(row["subject"], row["level"]) for row in rows], [(str(static), "remark")])
    text = this.run(case.MLRUN, "report", "--full", quiet.folder).stdout
    head, _, end = text.partition("REMARKS")
    this.true("the summary has it at its end", "statically" not in head and "statically linked" in end, text)
    much = this.trace(sys.executable, "-c", SPAWNS, static, data, 400000, options=["--lossless"])
    levels = {row["subject"]: row["level"] for row in much.rows("coverage")}
    this.true("one that read megabytes", "unseen" in levels.values(), levels)
    case.need_pid_namespace()
    inside = this.trace("unshare", "-pf", "/bin/sh", "-c", "cat /etc/hostname; true", options=["--lossless"])
    this.equal("coverage of a pid namespace", inside.rows("coverage"), [])
    this.true("each has its parent", sum(row["parent_proc_id"] is None for row in inside.rows("process")) == 1,
              inside.rows("process"))


if __name__ == "__main__":
    case.run(check)
