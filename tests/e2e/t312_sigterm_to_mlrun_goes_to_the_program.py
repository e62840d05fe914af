# SPDX-License-Identifier: Apache-2.0
"""mlrun passes SIGTERM on; the program handles it once and ends, and the trace is finished."""

import subprocess

from lib import case
from lib.trace import Trace


def check(this):
    out = this.new_trace()
    with subprocess.Popen(this.command(this.victim("sleeper"), out=out), stdout=subprocess.PIPE, text=True,
                          env=this.environment) as mlrun:
        this.equal("first line", mlrun.stdout.readline(), "ready\n")
        mlrun.terminate()
        this.equal("last line", mlrun.communicate(timeout=30)[0], "0 interrupts, 1 terminations\n")
    this.equal("exit status", mlrun.returncode, 5)
    this.true("the trace has its calls", len(Trace(out).calls) > 0)


if __name__ == "__main__":
    case.run(check)
