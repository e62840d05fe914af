# SPDX-License-Identifier: Apache-2.0
"""A stop rule that is met at its first check, and one that cannot be met: the number of runs, and how often it was
checked."""

import kit
from kit import case

PLAN = """workloads = ["sleep {s}"]
parameters = { s = ["0.1"] }
stop = { within = @WITHIN@, at_most = 10 }
[[configuration]]
name = "dry"
dry = true
[[configuration]]
name = "same"
dry = true
"""


def check(this):
    for within, blocks, looks in (("0.99", 8, 1), ("0.000001", 10, 3)):
        sweep = kit.Sweep(this, PLAN.replace("@WITHIN@", within), f"out{blocks}")
        sweep.run()
        sweep.expect_whole(2 * blocks)
        this.equal("looks", sweep.rows("SELECT looks FROM sweep"), [(looks,)])
        sweep.run()
        this.equal("after resuming it", (len(sweep.rows("SELECT * FROM run")), sweep.rows("SELECT looks FROM sweep")),
                   (2 * blocks, [(looks,)]))


if __name__ == "__main__":
    case.run(check)
