# SPDX-License-Identifier: Apache-2.0
"""With the smallest arena and a collector that is stopped for a while, recorded and dropped calls add up to the issued
ones."""

import os
import signal
import subprocess
import time

from lib import case
from lib.trace import Trace

CALLS = 400000


def check(this):
    data, out = this.data_file(), this.new_trace()
    victim = this.victim("numbered")
    command = this.command(victim, data, CALLS, "exit", out=out, options=("--buffer", "4M"))
    with subprocess.Popen(command, env=this.environment, stderr=subprocess.PIPE, text=True) as mlrun:
        case.wait_until_runs(mlrun.pid, victim)
        os.kill(mlrun.pid, signal.SIGSTOP)  # the program keeps running, and its 26 MB of records do not fit
        time.sleep(1.5)
        os.kill(mlrun.pid, signal.SIGCONT)
        said = mlrun.communicate(timeout=60)[1]
    this.equal("exit status", mlrun.returncode, 7, said=said)
    trace = Trace(out)
    numbers = [call.offset for call in trace.calls_of("pread", path=data)]
    this.equal("numbers recorded twice", len(numbers) - len(set(numbers)), 0)
    this.true("a part was dropped", 0 < trace.dropped() < CALLS, trace.dropped())
    opened = len(trace.calls_of("open", path=data))
    this.equal("recorded and dropped calls", len(numbers) + opened + trace.dropped_by_kind()["file call"], CALLS + 1)


if __name__ == "__main__":
    case.run(check)
