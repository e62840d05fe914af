# SPDX-License-Identifier: Apache-2.0
"""A command that fails whenever all its blocks are to have huge pages: the calibration has no run of near. It predicts from the runs with single
sites, and names what it lacks."""

import tomllib

from lib import case

# Fails in a run of near, by the rule in the command line of mlrun: only near has one for huge pages that names no site.
NOT_NEAR = r"""tr '\0' '\n' < /proc/$PPID/cmdline | grep -q '^size >= [0-9]* -> huge' && exit 3; exec "$@" """


def check(this):
    case.need_huge_pages()
    what, rules = this.path("what"), this.path("rules.toml")
    what.write_text("dense", encoding="ascii")
    command = ("/bin/sh", "-c", NOT_NEAR, "sh", this.victim("hot_and_cold"), "2", "10", what)
    trace = this.trace(*command, options=("--stacks=16", "--alloc-min=64K"))
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=1G", "--blocks", "8", "-o", rules, "--calibrate", this.path("runs"), "--quiet", timeout=600)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    said = done.stdout
    this.true("the runs of near failed", "8 runs failed" in said, said)
    this.true("what is lacking", "the calibration does without near, of which too few runs can be used; the predicted interval is wider" in said, said)
    prediction = tomllib.loads(rules.read_text(encoding="utf-8"))["advice"]["prediction"]
    this.equal("blocks, and no time of near", (prediction["blocks"], "near_s" in prediction), (8, False))


if __name__ == "__main__":
    case.run(check)
