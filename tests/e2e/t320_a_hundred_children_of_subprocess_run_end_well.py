# SPDX-License-Identifier: Apache-2.0
"""subprocess.run a hundred times: the output is as untraced, and the trace has one process for each, under its own
parent."""

import sys

from lib import case

SCRIPT = """
import subprocess
print(sum(int(subprocess.run(["sh", "-c", f"echo {i}"], capture_output=True, text=True).stdout) for i in range(100)))
"""


def check(this):
    trace = this.untraced_and_traced(sys.executable, "-S", "-c", SCRIPT)
    processes = {row["proc_id"]: row for row in trace.rows("process")}
    shells = [row for row in processes.values() if row["command"].startswith("sh -c")]
    this.equal("shells", len(shells), 100)
    this.equal("their parents", len({row["parent_proc_id"] for row in shells}), 1)


if __name__ == "__main__":
    case.run(check)
