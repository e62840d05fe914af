# SPDX-License-Identifier: Apache-2.0
"""What CUPTI holds when a process ends is fetched, within bounds; where that cannot be, the trace says so. The program
ends as it does without mlrun."""

import time

import cupti_case
from lib import case

LAUNCHES, HELD_UP_S = 200, 10
ORDERLY = {"return": 0, "_exit": 0, "quick_exit": 0, "signal": 5, "thread": 0, "exec": 0, "setgid": 0}
KILLED = {"abort": 134, "kill": 137}
HELD = "what CUPTI held when the process was killed or CUPTI did not answer at the end"


def losses(trace):
    return {row["reason"] for row in trace.rows("loss") if row["unit"] != "ns"}


def seconds(this, end, before):
    """How long the program takes whose CUPTI does not answer."""
    begin = time.monotonic()
    done = this.run(*before, cupti_case.APP, end, LAUNCHES, env=cupti_case.mock_environment(this, 13, STUCK=1))
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    return time.monotonic() - begin


def check(this):
    for end, status in ORDERLY.items():
        trace = cupti_case.traced(this, end, LAUNCHES, status=status)
        # The end of a process waits for no more than a fifth of a second: on a machine that stands still that long the
        # trace has to say what is missing.
        if HELD not in losses(trace):
            cupti_case.complete(this, trace, LAUNCHES)
            this.equal("losses at " + end, losses(trace), set())
    for end, status in KILLED.items():
        trace = cupti_case.traced(this, end, LAUNCHES, status=status)
        this.equal("losses at " + end, losses(trace), {HELD})

    confined = cupti_case.traced(this, "seccomp", LAUNCHES)
    this.equal("losses under seccomp", losses(confined), {HELD})

    forked = cupti_case.traced(this, "fork", LAUNCHES)
    this.equal("output of the child, once", forked.stdout, "child\n")
    this.equal("rows of parent alone", len(forked.rows("gpu_kernel")), 2 * (LAUNCHES + 1))
    this.equal("processes with GPU work", len({row["proc_id"] for row in forked.rows("gpu_kernel")}), 1)

    # At _exit a fifth of a second is waited, at exit half a second without a record. The rest is the machine's.
    for end in ("_exit", "return"):
        plain_s = seconds(this, end, ())
        stuck_s = seconds(this, end, [case.MLRUN, "--cupti", "--quiet", "--defer-merge", "-o", this.new_trace(), "--"])
        this.true("the end is held up for no longer than that: " + end, stuck_s < plain_s + HELD_UP_S, (plain_s, stuck_s))
        stuck = cupti_case.traced(this, end, LAUNCHES, STUCK=1)
        this.equal("losses when CUPTI does not answer: " + end, losses(stuck), {HELD})


if __name__ == "__main__":
    case.run(check)
