# SPDX-License-Identifier: Apache-2.0
"""3 configurations × 2 workloads × 5 repetitions, killed with SIGKILL at 20 random moments, every other time together with the
process that watches over its run: in the end there are exactly 30 runs, and nothing still runs."""

import kit
from kit import case

PLAN = """repetitions = 5
workloads = ["sh -c 'sort {file}; sleep 0.03 & sleep 0.01'", "sort -r {file}"]
[parameters]
file = ["/etc/passwd"]
""" + kit.THREE


def leave_half_a_log(sweep):
    """In the folder of a run that is still planned, as a kill may leave it there."""
    process = sweep.start()
    kit.wait_until(lambda: sweep.rows("SELECT 1 FROM run WHERE state = 'done'"))
    kit.kill(sweep, process, False)
    folder = sweep.folder(sweep.rows("SELECT folder FROM run WHERE state = 'planned' ORDER BY position")[-1][0])
    folder.mkdir()
    (folder / "cmd.log.tmp").touch()


def check(this):
    sweep = kit.Sweep(this, PLAN)
    seed = 24
    print("seed", seed)
    leave_half_a_log(sweep)
    kit.killed_at_random(sweep, 20, 0.6, seed)
    sweep.expect_whole(30)
    for folder, failure, interrupted in sweep.rows("SELECT folder, failure, interrupted FROM run WHERE state = 'failed'"):
        this.equal(folder, (failure, interrupted), ("the sweep was killed during this run", 1))
    whole = sweep.rows("SELECT folder FROM run WHERE state = 'done' AND configuration != 'dry'")
    with_events = sum(any((sweep.folder(folder) / "tables" / "call").iterdir()) for (folder,) in whole)
    this.equal("runs with their whole trace, one for each configuration and workload", with_events, 4)
    again = sweep.run()
    this.equal("runs after resuming a sweep that is done", len(sweep.rows("SELECT * FROM run WHERE state = 'done'")), 30,
               said=again.stderr)


if __name__ == "__main__":
    case.run(check)
