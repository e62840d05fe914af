# SPDX-License-Identifier: Apache-2.0
"""A sweep whose plan was edited: resuming it names what changed and changes nothing; --extend adds the new runs, and refuses a change
of what earlier runs were."""

import kit
from kit import case

PLAN = 'repetitions = 2\nworkloads = ["sort /etc/passwd"]\n[[configuration]]\nname = "dry"\ndry = true\n'
MORE = PLAN.replace("repetitions = 2", "repetitions = 3") + '[[configuration]]\nname = "full"\n'
LONGER = PLAN.replace("repetitions = 2", "repetitions = 3")
OTHER = PLAN.replace("dry = true", 'dry = true\nenvironment = { A = "b" }')


def edited(this, plan, *options, status):
    this.path("out.toml").write_text(plan)
    done = this.run(case.MLRUN, "sweep", this.path("out.toml"), *options)
    this.equal("exit status", done.returncode, status, said=done.stderr)
    return done.stderr


def check(this):
    sweep = kit.Sweep(this, PLAN)
    sweep.run()
    before = sweep.rows("SELECT * FROM run")
    this.true("a second sweep in one folder", "--resume" in edited(this, PLAN, "-o", this.path("out"), status=125))
    for plan, wanted in ((MORE, 'configuration "full" is new'), (LONGER, "repetitions was 2 and is 3"), (OTHER, "environment")):
        said = edited(this, plan, "--resume", this.path("out"), status=125)
        this.true(f"it names {wanted}", wanted in said, said)
    this.true("a change of earlier runs", "environment" in edited(this, OTHER, "--extend", "-o", this.path("out"), status=125))
    this.equal("rows after refusals", sweep.rows("SELECT * FROM run"), before)
    edited(this, MORE, "--extend", "-o", this.path("out"), status=0)
    sweep.expect_whole(6)
    this.equal("earlier rows", sweep.rows("SELECT * FROM run WHERE id <= 2"), before)
    this.equal("plans", len(sweep.rows("SELECT * FROM plan")), 2)
    edited(this, MORE, "--resume", this.path("out"), status=0)
    sweep.expect_whole(6)


if __name__ == "__main__":
    case.run(check)
