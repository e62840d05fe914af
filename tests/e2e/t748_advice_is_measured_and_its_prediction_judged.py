# SPDX-License-Identifier: Apache-2.0
"""A program with a hot and a cold table, of which one fits into the fast memory: huge pages, which make jumping about really faster on this
machine. Calibration runs find the hot one, and predict; the prediction holds. Then the program changes its mind (a file says which table is
hot): the same prediction does not hold. CPU time is compared, as the machine may be busy."""

import tomllib
from pathlib import Path

from lib import case

MIB, READS, BLOCKS = 64, 2_000_000, 8


def advise(this, *words, status=(0,)):
    done = this.run(case.MLRUN, "advise", *words, timeout=900)
    this.true(f"{words}: exit status {done.returncode}", done.returncode in status, done.stderr + done.stdout)
    return done.stdout


def check(this):
    if "never" in Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text(encoding="ascii").split("[")[1].split("]")[0]:
        raise case.Skip("this kernel makes no huge pages")
    which = this.path("which")
    which.write_text("second", encoding="ascii")
    trace = this.trace(this.victim("hot_and_cold"), MIB, READS, which, options=("--stacks=16", "--alloc-min=64K"))
    rules = this.path("rules.toml")
    words = [trace.folder, "--fast", f"huge={MIB + 1}M", "--figure", "cpu", "--blocks", str(BLOCKS), "--quiet"]
    said = advise(this, *words, "-o", rules, "--calibrate", this.path("calibration"))
    file = tomllib.loads(rules.read_text(encoding="utf-8"))
    prediction = file["advice"]["prediction"]
    this.equal("one site is chosen", [len(rule["site"]) for rule in file["rule"] if "site" in rule], [1], said)
    this.true("the hot table's", "make_second" in said and "make_first" not in said, said)
    this.true("it has nearly all of the gain", file["advice"]["gain"] > 0.6, said)
    this.true("huge pages are faster", prediction["change"] < -0.03 and prediction["low"] < prediction["change"] < prediction["high"], said)
    said = advise(this, rules, "--try", this.path("held"), "--quiet")
    this.true("the prediction held", "the prediction held" in said, said)
    which.write_text("first", encoding="ascii")
    said = advise(this, rules, "--try", this.path("failed"), "--quiet", status=(1,))
    this.true("now it does not", "the prediction did not hold" in said, said)


if __name__ == "__main__":
    case.run(check)
