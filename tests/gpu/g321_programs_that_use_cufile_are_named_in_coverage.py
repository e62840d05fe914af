# SPDX-License-Identifier: Apache-2.0
"""A program that uses libcufile is named in coverage, because what the driver moves into a GPU is not seen. libcufile
itself waits for a driver where there is none, so the test only makes its first step: reading the number of nvidia-fs
devices (seen with 1.20)."""

import sys

from lib import case

LOOK = """
try:
    open('/proc/driver/nvidia-fs/devcount').read()
except OSError:
    pass
"""


def reported(trace):
    return [row for row in trace.rows("coverage") if "cuFile" in row["subject"]]


def check(this):
    used = this.trace(sys.executable, "-c", LOOK, options=["--preload=files"])
    this.equal("rows", [(row["proc_id"], row["seen"], row["kernel"]) for row in reported(used)], [(0, -1, -1)])
    this.true("in the summary", "cuFile" in this.run(case.MLRUN, "report", "--full", used.folder).stdout, reported(used))
    unused = this.trace(sys.executable, "-c", "pass", options=["--preload=files"])
    this.equal("without it", reported(unused), [])


if __name__ == "__main__":
    case.run(check)
