# SPDX-License-Identifier: Apache-2.0
"""s201 with a training: 30 runs of train.py --quick with loaders, killed at 20 random moments; epochs are figures of their own."""

import sys

import kit
from kit import case
from lib import training

PLAN = """repetitions = 5
workloads = ["@PYTHON@ @TRAIN@ --data @DATA@ --quick --workers {workers} --mllog @LOG@"]
[parameters]
workers = [1, 2]
[[configuration]]
name = "dry"
dry = true
[[configuration]]
name = "full"
options = ["--mllog", "@LOG@"]
[[configuration]]
name = "calls"
options = ["--preload=files", "--mllog", "@LOG@"]
"""


def check(this):
    training.need_torch()
    words = {"PYTHON": sys.executable, "TRAIN": training.TRAIN, "DATA": training.data_set(this), "LOG": this.path("log")}
    plan = PLAN
    for name, value in words.items():
        plan = plan.replace(f"@{name}@", str(value))
    sweep = kit.Sweep(this, plan)
    kit.killed_at_random(sweep, 20, 15, seed=8)
    sweep.expect_whole(30)
    for name in ("epoch_1_s", "later_epochs_s"):
        this.equal(f"runs with {name}", len(sweep.figure(name, "full")), 10)


if __name__ == "__main__":
    case.run(check)
