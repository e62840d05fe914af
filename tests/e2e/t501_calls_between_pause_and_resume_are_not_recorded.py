# SPDX-License-Identifier: Apache-2.0
"""With mlrun pause and resume around the second of three steps, the trace has the first and the third, not the second,
and the interval of the pause."""

import subprocess

from lib import case
from lib.trace import Trace

CALLS = 1000


def step(program):
    program.stdin.write("x")
    program.stdin.flush()
    return program.stdout.readline()


def check(this):
    data, out = this.data_file(), this.new_trace()
    with subprocess.Popen(this.command(this.victim("steps"), data, CALLS, out=out), stdin=subprocess.PIPE, text=True,
                          stdout=subprocess.PIPE, env=this.environment) as program:
        this.equal("first step", step(program), "done\n")
        for verb in ("pause", "resume"):
            done = this.run(case.MLRUN, verb, out)
            this.equal(f"exit status of {verb}", done.returncode, 0, said=done.stderr)
            this.equal("step after it", step(program), "done\n")
        program.stdin.close()
        program.wait(30)
    this.equal("exit status", program.returncode, 0)
    trace = Trace(out)
    numbers = [call.offset for call in trace.calls_of("pread", path=data)]
    this.equal("recorded", numbers, list(range(CALLS)) + list(range(2 * CALLS, 3 * CALLS)))
    paused = [row for row in trace.rows("loss") if "paus" in row["reason"]]
    this.equal("pauses in the loss table", len(paused), 1)
    calls = trace.calls_of("pread", path=data)
    this.true("the pause stands between the steps",
              calls[CALLS - 1].end_ns <= paused[0]["first"] < paused[0]["last"] <= calls[CALLS].ts_ns, paused)


if __name__ == "__main__":
    case.run(check)
