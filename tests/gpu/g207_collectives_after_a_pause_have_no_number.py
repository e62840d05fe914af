# SPDX-License-Identifier: Apache-2.0
"""After mlrun pause and resume, collectives of two ranks have no number, since the number of missed ones is unknown. Only
collectives before the pause are compared; coverage counts the others."""

import subprocess

from gpu_case import need_nvtx_program, report
from lib import case
from lib.trace import Trace

BEFORE, MISSED, AFTER = 5, 3, 4
STEPS = BEFORE + MISSED + AFTER


def steps(this, program, count):
    """Both ranks say each step's number."""
    for _ in range(count):
        program.stdin.write("x")
        program.stdin.flush()
        numbers = {program.stdout.readline().split()[0] for _ in range(2)}
        this.equal("one step at a time", len(numbers), 1)


def check(this):
    out = this.new_trace()
    with subprocess.Popen(this.command(need_nvtx_program("collectives"), "paced", STEPS, out=out), text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=this.environment) as program:
        steps(this, program, BEFORE)
        for verb, count in (("pause", MISSED), ("resume", AFTER)):
            done = this.run(case.MLRUN, verb, out)
            this.equal(f"exit status of {verb}", done.returncode, 0, said=done.stderr)
            steps(this, program, count)
        program.stdin.close()
        program.wait(60)
    this.equal("exit status", program.returncode, 0)
    trace = Trace(out)
    rows = sorted(trace.rows("collective"), key=lambda row: row["ts"])
    for rank in (0, 1):
        numbers = [row["sequence"] for row in rows if (row["operation"], row["rank"]) == ("AllReduce", rank)]
        this.equal("numbers", numbers, [*range(BEFORE), *[None] * AFTER])
    this.equal("broadcasts", [row["sequence"] for row in rows if row["operation"] == "Broadcast"], [None, None])
    compared = {row["operation"]: row["compared"] for row in report(this, trace)["collectives"]}
    this.equal("compared", (compared["AllReduce"], compared["Broadcast"]), (BEFORE, 0))
    reported = [row["detail"].split()[0] for row in trace.rows("coverage") if row["subject"] == "numbers of collectives"]
    this.equal("coverage of the others", reported, [str(2 * (AFTER + 1))])


if __name__ == "__main__":
    case.run(check)
