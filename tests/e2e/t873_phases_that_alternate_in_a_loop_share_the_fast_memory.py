# SPDX-License-Identifier: Apache-2.0
"""Two phases of a loop that alternate thousands of times, each of which fills the fast memory: both are chosen, though a block beside them has a share of the
gain, and the bound knows that it does not fit beside them. The rules place every block of both in another run."""

import tomllib

from lib import case

TURNS, MIB = 2000, 1 << 20


def check(this):
    case.need_huge_pages()
    program = this.victim("phases")
    trace = this.trace(program, TURNS, options=("--stacks=16", "--alloc-min=64K", "--sample=off"))
    rules = this.path("rules.toml")
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=16M", "-o", rules)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    this.true("both phases", "first_phase" in done.stdout and "second_phase" in done.stdout and "all_along" not in done.stdout, done.stdout)
    advice = tomllib.loads(rules.read_text(encoding="utf-8"))["advice"]
    this.true("the bound is near", 0.5 < advice["gain"] <= advice["gain_most"] < 0.9, advice)
    again = this.trace(program, "20", options=("--preload=off", "--place", rules))
    counts = {row["rule"]: row for row in again.rows("placement")}
    this.equal("blocks of the chosen sites", (counts[0]["matches"], counts[0]["bytes"], counts[0]["fallbacks"]), (20 * 8, 20 * 8 * 4 * MIB, 0))
    this.equal("most at once", counts[0]["peak_bytes"], 16 * MIB)


if __name__ == "__main__":
    case.run(check)
