# SPDX-License-Identifier: Apache-2.0
"""Where a command fails in each run of a trial or a calibration, that is one error which says how many failed and where their output is. Nothing is judged or
predicted, and no file is left."""

from lib import case


def check(this):
    what, rules, missing = this.path("what"), this.path("rules.toml"), this.path("missing.toml")
    what.write_text("dense", encoding="ascii")
    trace = this.trace(this.victim("hot_and_cold"), "1", "10", what, options=("--stacks=16", "--alloc-min=64K"))
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=1G", "-o", rules)
    this.equal("advice", done.returncode, 0, said=done.stderr)
    what.unlink()
    for folder, words in (("trial", (rules,)), ("calibration", (trace.folder, "--fast", "huge=1G", "-o", missing))):
        option = "--try" if folder == "trial" else "--calibrate"
        done = this.run(case.MLRUN, "advise", *words, option, this.path(folder), "--quiet", timeout=600)
        this.equal(f"{option}: status", done.returncode, 125, said=done.stdout + done.stderr)
        this.true(f"{option}: how many, and where to look", " can be used: 32 runs failed (" in done.stderr and f"{this.path(folder)}/runs" in done.stderr, done.stderr)
        this.equal(f"{option}: nothing is judged", done.stdout, "")
    this.true("no file", not missing.exists())


if __name__ == "__main__":
    case.run(check)
