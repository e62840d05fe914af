# SPDX-License-Identifier: Apache-2.0
"""A file of placement rules that is edited after a sweep began: neither --resume nor --extend adds runs under the new rules, with the plan
and without it, wherever they are called, and a sweep that is under way stops before the next run with these rules. With the earlier contents
all go on."""

import kit
from kit import case

PLAN = """repetitions = {repetitions}
workloads = ["true"]
[[configuration]]
name = "dry"
dry = true
[[configuration]]
name = "placed"
options = ["--preload=off", "--place", "rules.toml", "--place", "size >= 1G -> default"]
"""
RULES = '[[rule]]\nsize = ">= {size}"\nto = "default"\n'


def check(this):
    here, other = this.path("here"), this.path("other")
    here.mkdir()
    other.mkdir()
    (here / "rules.toml").write_text(RULES.format(size="1M"))
    sweep = kit.Sweep(this, PLAN.format(repetitions=1))
    sweep.run(cwd=here)
    before = sweep.rows("SELECT * FROM run")

    def refused(what, *arguments, cwd, word):
        done = this.run(case.MLRUN, "sweep", *arguments, cwd=cwd)
        this.equal(f"{what}: status, lines", (done.returncode, done.stderr.count("\n")), (125, 1), said=done.stderr)
        this.true(f"{what}: the configuration and the fault are named", '"placed"' in done.stderr and word in done.stderr, done.stderr)
        this.equal(f"{what}: rows", sweep.rows("SELECT * FROM run"), before)

    (here / "rules.toml").write_text(RULES.format(size="2M"))
    refused("without the plan", "--resume", sweep.out, cwd=other, word="changed")
    refused("with the plan", sweep.plan, "--resume", sweep.out, cwd=here, word="rules")
    sweep.plan.write_text(PLAN.format(repetitions=2))
    refused("one repetition more", "--extend", sweep.plan, "-o", sweep.out, cwd=here, word="rules")
    (here / "rules.toml").unlink()
    done = this.run(case.MLRUN, "sweep", "--resume", sweep.out, cwd=other)
    this.equal("without the file", (done.returncode, "rules.toml" in done.stderr), (125, True), said=done.stderr)

    (here / "rules.toml").write_text(RULES.format(size="1M"))
    done = this.run(case.MLRUN, "sweep", "--extend", sweep.plan, "-o", sweep.out, cwd=here)
    this.equal("with the earlier rules", done.returncode, 0, said=done.stderr)
    sweep.expect_whole(4)
    check_edit_under_way(this, here)


def check_edit_under_way(this, here):
    rules = here / "rules.toml"
    (here / "new_rule").write_text('[[rule]]\nto = "default"\n')
    (here / "edit.sh").write_text(f"[ $MLRUN_SWEEP_BLOCK = 1 ] || cat {here}/new_rule >> {rules}\n")
    before = rules.read_text()
    sweep = kit.Sweep(this, 'before = ["sh", "edit.sh"]\n' + PLAN.format(repetitions=2), name="under_way")
    done = this.run(case.MLRUN, "sweep", sweep.plan, "-o", sweep.out, cwd=here)
    this.equal("under way: status", done.returncode, 125, said=done.stderr)
    this.true("under way: what to do is said", '"placed"' in done.stderr and "--resume" in done.stderr, done.stderr)
    placed = sweep.rows("SELECT state FROM run WHERE configuration = 'placed' ORDER BY position")
    this.equal("under way: runs under the first rules alone", placed, [("done",), ("planned",)])
    (here / "edit.sh").write_text("")
    rules.write_text(f"# a comment is no rule\n{before}")
    done = this.run(case.MLRUN, "sweep", "--resume", sweep.out, cwd=here)
    this.equal("under way: with the earlier rules", done.returncode, 0, said=done.stderr)
    sweep.expect_whole(4)


if __name__ == "__main__":
    case.run(check)
