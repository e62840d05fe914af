# SPDX-License-Identifier: Apache-2.0
"""A command that failed when it was recorded is ranked, and a line says so; its rules have the exit status. It is not run again: that is one
error before the first run, of a calibration and of a trial."""

import tomllib

from lib import case

SCRIPT = 'echo run >> "$1"; "$2"; exit 3'


def check(this):
    case.need_huge_pages()
    seen, rules, missing = this.path("seen"), this.path("rules.toml"), this.path("missing.toml")
    trace = this.trace("sh", "-c", SCRIPT, "sh", seen, this.victim("phases"), options=("--stacks=16", "--alloc-min=64K"), status=3)
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=17M", "-o", rules)
    this.equal("ranked", done.returncode, 0, said=done.stderr)
    this.true("and said", "the recorded command failed (exit status 3)" in done.stdout, done.stdout)
    this.equal("kept", tomllib.loads(rules.read_text(encoding="utf-8"))["advice"]["failure"], "exit status 3")
    for words in ((trace.folder, "--fast", "huge=17M", "-o", missing, "--calibrate", this.path("measured")), (rules, "--try", this.path("measured"))):
        done = this.run(case.MLRUN, "advise", *words, "--quiet")
        this.equal(f"{words}: status and lines", (done.returncode, done.stderr.count("\n")), (125, 1), said=done.stderr)
        this.true("why, and what to do", "exit status 3" in done.stderr and "record one that succeeds" in done.stderr, done.stderr)
        this.true("nothing is there", not missing.exists() and not this.path("measured").exists())
    this.equal("runs of the command", seen.read_text(encoding="ascii"), "run\n")


if __name__ == "__main__":
    case.run(check)
