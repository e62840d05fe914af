# SPDX-License-Identifier: Apache-2.0
"""Records that CUPTI still holds when a process ends are fetched within a time limit; where that is impossible, the
trace says so. The program ends as without mlrun."""

import re
import time

import cupti_case
from checking import HELD
from lib import case

LAUNCHES = 200
# At _exit a fifth of a second is waited, at exit half a second without a record; the rest is for mlrun's own start. A machine that
# is busy can hold up each of several tries, but not a bound that is missing: that CUPTI never answers.
HELD_UP_S, TRIES = 2, 4
ORDERLY = {"return": 0, "_exit": 0, "quick_exit": 0, "signal": 5, "thread": 0, "exec": 0, "setgid": 0}
KILLED = {"abort": 134, "kill": 137}


def losses(trace):
    return {row["reason"] for row in trace.rows("loss") if row["unit"] != "ns"}


def seconds(this, end, before):
    """How long the program takes whose CUPTI does not answer."""
    begin = time.monotonic()
    done = this.run(*before, cupti_case.APP, end, LAUNCHES, env=cupti_case.mock_environment(this, 13, STUCK=1))
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    return time.monotonic() - begin


def check_last_fetch(this):
    """What was fetched before a process is killed is there, and the gap does not begin before that."""
    trace = cupti_case.traced(this, "twice", LAUNCHES, status=137)
    launched, fetched = map(int, re.search(r"launched (\d+) fetched (\d+)", trace.stdout).groups())
    kernels = trace.rows("gpu_kernel")
    this.equal("kernels of before", sum(row["ts"] < launched for row in kernels), LAUNCHES + 1)
    [gap] = [row for row in trace.rows("loss") if row["reason"] == HELD]
    this.true("the gap begins with the last fetch, and what follows is in it", launched <= gap["first"] <= gap["last"],
              (launched, fetched, gap))
    # The next fetch is a second later: it may have come in between on a machine that stood still.
    later = [row for row in kernels if row["ts"] >= launched]
    this.true("nothing is there that was not fetched", not later or gap["first"] > fetched, (gap, fetched, later[:3]))
    this.true("it ends with the process", gap["last"] >= fetched, (gap, fetched))


def check_forks(this):
    """A child does not call CUPTI, however it starts and ends: the mock aborts on a call."""
    for end in ("fork", "fork_exit", "vfork"):
        forked = cupti_case.fetched(this, end, LAUNCHES)
        this.equal(f"output of the child, once: {end}", forked.stdout, "child\n")
        this.equal(f"rows of parent alone: {end}", len(forked.rows("gpu_kernel")), 2 * (LAUNCHES + 1))
        this.equal(f"processes with GPU work: {end}", len({row["proc_id"] for row in forked.rows("gpu_kernel")}), 1)
        this.equal(f"losses: {end}", losses(forked), set())


def check_own_work(this):
    """CUPTI's own work is in the loss table, and is no loss."""
    for major in (12, 13):  # of 12.0 the record is shorter
        trace = cupti_case.fetched(this, "return", LAUNCHES, majors=(major,), driver=major, OVERHEAD=1)
        reported = {row["reason"]: (row["count"], row["unit"]) for row in trace.rows("loss")}
        this.equal("of 700 ns each", {(count % 700, count > 0, unit) for count, unit in reported.values()}, {(0, True, "ns")})
        this.equal("of each launch", reported["CUPTI's own work: command buffer full"][0], 700 * (LAUNCHES + 1))
        this.equal("times of kinds", sorted(reported), ["CUPTI's own work: buffer flush", "CUPTI's own work: command buffer full"])
        cupti_case.complete(this, trace, LAUNCHES)


def held_up_s(this, end):
    """The added time under mlrun: the minimum of some tries, which end as soon as it is short enough."""
    least_s = float("inf")
    for _ in range(TRIES):
        plain_s = seconds(this, end, ())
        stuck_s = seconds(this, end, [case.MLRUN, "--cupti", "--quiet", "--defer-merge", "-o", this.new_trace(), "--"])
        least_s = min(least_s, stuck_s - plain_s)
        if least_s < HELD_UP_S:
            break
    return least_s


def check(this):
    for end, status in ORDERLY.items():
        trace = cupti_case.fetched(this, end, LAUNCHES, status=status)
        cupti_case.complete(this, trace, LAUNCHES)
        this.equal("losses at " + end, losses(trace), set())
    for end, status in KILLED.items():
        trace = cupti_case.traced(this, end, LAUNCHES, status=status)
        this.equal("losses at " + end, losses(trace), {HELD})

    confined = cupti_case.traced(this, "seccomp", LAUNCHES)
    this.equal("losses under seccomp", losses(confined), {HELD})

    check_last_fetch(this)
    check_forks(this)
    check_own_work(this)

    for end in ("_exit", "return"):
        least_s = held_up_s(this, end)
        this.true("the end is held up for no longer than that: " + end, least_s < HELD_UP_S, least_s)
        stuck = cupti_case.traced(this, end, LAUNCHES, STUCK=1)
        this.equal("losses when CUPTI does not answer: " + end, losses(stuck), {HELD})


if __name__ == "__main__":
    case.run(check)
