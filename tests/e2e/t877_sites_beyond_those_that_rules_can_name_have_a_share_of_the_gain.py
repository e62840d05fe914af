# SPDX-License-Identifier: Apache-2.0
"""300 sites with blocks of one size that live equally long. Rules have room for 250: all of these are chosen, and have five sixths of the gain."""

import tomllib

from lib import case


def check(this):
    case.need_huge_pages()
    trace = this.trace(this.victim("many_sites"), "300", options=("--stacks=16", "--alloc-min=64K", "--sample=off"))
    rules = this.path("rules.toml")
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=2G", "-o", rules)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    this.true("sites", "300 sites" in done.stdout and "50 sites with the smallest gains stay on the slow memory" in done.stdout, done.stdout)
    file = tomllib.loads(rules.read_text(encoding="utf-8"))
    this.equal("chosen", len(file["rule"][0]["site"]), 250)
    this.true("their share", abs(file["advice"]["gain"] - 250 / 300) < 0.01, file["advice"]["gain"])
    this.true("more is not possible", abs(file["advice"]["gain_most"] - file["advice"]["gain"]) < 1e-5, file["advice"])


if __name__ == "__main__":
    case.run(check)
