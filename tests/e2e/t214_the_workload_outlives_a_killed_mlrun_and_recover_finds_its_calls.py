# SPDX-License-Identifier: Apache-2.0
"""SIGKILL to mlrun at several moments does not change the program's output and status; recover restores all calls
before the kill and those in the arena after it, none twice."""

import random

from lib import case, killed_collector
from lib.trace import Trace

ROUNDS = 4


def check(this):
    data = this.data_file()
    content = open(data, "rb").read(killed_collector.CALLS)
    moments = random.Random()
    for _ in range(ROUNDS):
        after = killed_collector.kill_mlrun_after(this, moments.randrange(1, killed_collector.CALLS * 3 // 4))
        this.equal("output of the workload", after.output, f"{sum(content)}\n")
        this.equal("exit status of the workload", after.status, 3)
        done = this.run(case.MLRUN, "recover", after.trace)
        this.equal("exit status of recover", done.returncode, 0, said=done.stderr)
        trace = Trace(after.trace)
        numbers = [call.offset for call in trace.calls_of("pread", path=data)]
        this.equal("numbers recorded twice", len(numbers) - len(set(numbers)), 0)
        missing = sorted(set(range(after.finished_before)) - set(numbers))
        this.equal(f"calls missing of {after.finished_before} made before the kill", missing[:5], [])
        this.equal("calls missing of those after it (the arena had room)", len(numbers), killed_collector.CALLS)


if __name__ == "__main__":
    case.run(check)
