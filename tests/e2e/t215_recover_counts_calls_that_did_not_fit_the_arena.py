# SPDX-License-Identifier: Apache-2.0
"""SIGKILL to mlrun with a small arena: recover restores all calls before the kill and those that still fit, without a
gap in between, and counts the rest as lost."""

from lib import case, killed_collector
from lib.trace import Trace

CALLS = 1000000  # 64 MB of records


def check(this):
    data = this.data_file()
    after = killed_collector.kill_mlrun_after(this, 2000, CALLS, pause_ns=0, options=("--buffer", "4M"))
    this.equal("exit status of the workload", after.status, 3)
    done = this.run(case.MLRUN, "recover", after.trace)
    this.equal("exit status of recover", done.returncode, 0, said=done.stderr)
    trace = Trace(after.trace)
    numbers = sorted(call.offset for call in trace.calls_of("pread", path=data))
    this.equal("the numbers are those from 0 on, once each", numbers, list(range(len(numbers))))
    this.true("more than what was made before the kill", after.finished_before < len(numbers) < CALLS,
              (after.finished_before, len(numbers)))
    missing = CALLS - len(numbers)
    this.true("the rest is counted", trace.dropped() >= missing, f"{missing} missing, {trace.dropped()} counted")


if __name__ == "__main__":
    case.run(check)
