# SPDX-License-Identifier: Apache-2.0
"""A command before or after a run that does not end: it has the run's time limit, by SIGTERM, or by SIGKILL where it ignores that. The run
has failed, with the command and the limit as the reason, nothing is left running, and the sweep goes on. Without a limit it may last."""

import time

import kit
from kit import case

DEAF = "sh -c \"trap '' TERM; while :; do sleep 1; done\""
LIMIT_S, KILL_S = 2, 5


def plan(workload, *lines):
    return "\n".join(("repetitions = 2", *lines, f'workloads = ["{workload}"]', '[[configuration]]\nname = "dry"\ndry = true\n'))


def failures(sweep):
    return sweep.rows("SELECT state, failure FROM run ORDER BY position")


def check(this):
    for which, command, least_s in (("before", '"sleep 600"', LIMIT_S), ("after", f"'''{DEAF}'''", LIMIT_S + KILL_S)):
        sweep = kit.Sweep(this, plan("true", f"time_limit = {LIMIT_S}", f"{which} = {command}"), which)
        begin = time.monotonic()
        sweep.run(status=1, timeout=60)
        spent_s = time.monotonic() - begin
        log = sweep.out / f"{which}.log"
        this.equal(f"why both runs failed, {which}", failures(sweep),
                   [("failed", f"the plan's command {which} was ended after the time limit of {LIMIT_S} s; see {log}")] * 2)
        this.true(f"each was given its time, {which}", spent_s >= 2 * least_s, spent_s)
        this.equal(f"what is left running, {which}", kit.processes_of(sweep.out), [])
        has_run = sweep.rows("SELECT count(*) FROM figure WHERE name = 'wall_s'")
        this.equal(f"runs that were made, {which}", has_run, [(0,)] if which == "before" else [(2,)])

    quick = kit.Sweep(this, plan("true", f"time_limit = {LIMIT_S}", 'before = "true"', 'after = "true"'), "quick")
    quick.run()
    this.equal("commands within the limit", failures(quick), [("done", "")] * 2)
    lasting = kit.Sweep(this, plan("true", f'before = "sleep {LIMIT_S + 1}"'), "lasting")
    lasting.run()
    this.equal("without a limit", failures(lasting), [("done", "")] * 2)


if __name__ == "__main__":
    case.run(check)
