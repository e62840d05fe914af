# SPDX-License-Identifier: Apache-2.0
"""SIGKILL to mlrun while a program runs under a policy of memory, without rules: after recover the summary says that no pages were sampled because mlrun was
killed, and not that no process lived long enough."""

import os
import signal
import subprocess

from lib import case, killed_collector

PROGRAM = """
import os, sys, time
open(sys.argv[1], "w").close()
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
open(sys.argv[3], "w").close()
"""


def check(this):
    out = this.new_trace()
    holds, goes_on, ends = (this.path(name) for name in ("holds", "goes_on", "ends"))
    command = this.command("/usr/bin/python3", "-c", PROGRAM, holds, goes_on, ends, out=out, options=("--preferred", "0"))
    with subprocess.Popen(command, env=this.environment, cwd=this.folder) as mlrun:
        killed_collector.wait_for(holds.exists, 60)
        os.kill(mlrun.pid, signal.SIGKILL)
    goes_on.touch()
    killed_collector.wait_for(ends.exists, 60)
    done = this.run(case.MLRUN, "recover", out)
    this.equal("exit status of recover", done.returncode, 0, said=done.stderr)
    said = " ".join(this.run(case.MLRUN, "report", out).stdout.split())
    this.true("the reason", "PLACED --preferred 0 pages not sampled (mlrun was killed)" in said, said)


if __name__ == "__main__":
    case.run(check)
