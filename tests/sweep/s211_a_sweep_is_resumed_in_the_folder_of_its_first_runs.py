# SPDX-License-Identifier: Apache-2.0
"""Runs that are made after an interruption start in the folder of the first ones, wherever --resume and --extend are called; their
cmd.log is a command of the shell whatever the names of its variables are."""

import os
import shutil
import signal
import subprocess

import kit
from kit import case

PLAN = """repetitions = {repetitions}
workloads = ["sh ./job"]
[[configuration]]
name = "dry"
dry = true
[configuration.environment]
"A B" = "a b"
"1C" = "$(d)"
"""
JOB = 'pwd -P; [ ! -e wait ] || { touch begun; sleep 1000; }\n'


def check(this):
    first, other = this.path("first"), this.path("other")
    for folder in (first, other):
        folder.mkdir()
        (folder / "job").write_text(JOB)
    (first / "wait").touch()
    sweep = kit.Sweep(this, PLAN.format(repetitions=2))
    process = sweep.start(cwd=first)
    kit.wait_until((first / "begun").exists)
    process.send_signal(signal.SIGINT)
    this.equal("after Ctrl-C", process.wait(), 130)
    (first / "wait").unlink()
    sweep.run(cwd=other)
    sweep.plan.write_text(PLAN.format(repetitions=3))
    done = this.run(case.MLRUN, "sweep", "--extend", sweep.plan, "-o", os.path.relpath(sweep.out, other), cwd=other)
    this.equal("--extend", done.returncode, 0, said=done.stderr)
    for number in (1, 2, 3):
        run = sweep.folder(f"sh.job.dry.{number}")
        this.equal(f"folder of run {number}", (run / "console.log").read_text(), f"{first.resolve()}\n")
    words = (sweep.folder("sh.job.dry.1") / "cmd.log").read_text().replace("sh ./job", "env")
    again = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    this.true("cmd.log as a command", {"A B=a b", "1C=$(d)"} <= set(again.stdout.splitlines()), words + again.stderr)
    shown = this.run(case.MLRUN, "sweep", "--dry-run", sweep.plan, cwd=first).stdout
    this.true("the dry run has the same command", words.strip().replace("env 1C", "env 1C").removesuffix(" env") in shown, (words, shown))

    shutil.rmtree(first)
    sweep.plan.write_text(PLAN.format(repetitions=4))
    done = this.run(case.MLRUN, "sweep", "--extend", sweep.plan, "-o", sweep.out, cwd=other)
    this.equal("without that folder", (done.returncode, done.stderr.count("\n")), (125, 1), said=done.stderr)
    this.true("it is named", f"enter {first}" in done.stderr, done.stderr)
    this.equal("runs", sorted(path.name for path in sweep.folder("").iterdir() if not path.name.endswith("failed-1")),
               [f"sh.job.dry.{number}" for number in (1, 2, 3)])


if __name__ == "__main__":
    case.run(check)
