# SPDX-License-Identifier: Apache-2.0
"""Rules by mlrun advise: two phases that never overlap are both chosen where one fits at a time; the sites of the file place those blocks and
no others in another run; without calibration no time is predicted. What cannot be advised is one clear error that leaves no file."""

import tomllib

from lib import case

MIB = 1 << 20


def advise(this, *words):
    return this.run(case.MLRUN, "advise", *words)


def check_last_block(this):
    """A block that is allocated last and never freed lives until the end of the run: no later allocation is needed to end it."""
    code = "import os, time; kept = bytearray(32 << 20); time.sleep(0.5); os._exit(0)"
    trace = this.trace("python3", "-c", code, options=("--stacks=16", "--alloc-min=64K"))
    done = advise(this, trace.folder, "--fast", "huge=33M", "-o", this.path("last.toml"))
    this.true("the last block is chosen", "PyByteArray" in done.stdout, done.stdout + done.stderr)


def check_budget(this, trace):
    """A larger input never takes more fast memory than was given. All other blocks are in a heap without a budget, which has caches."""
    for size in ("17M", "200M"):
        rules = this.path(f"of_{size}.toml")
        advise(this, trace.folder, "--fast", f"huge={size}", "-o", rules)
        file = tomllib.loads(rules.read_text(encoding="utf-8"))
        this.equal(f"{size}: budgets", [rule.get("budget") for rule in file["rule"]], [str(int(size[:-1]) * MIB), None], file["rule"])


def check(this):
    case.need_huge_pages()
    program = this.victim("phases")
    trace = this.trace(program, "\x7f", options=("--stacks=16", "--alloc-min=64K"))  # TOML has no such character in a text
    rules = this.path("rules.toml")
    done = advise(this, trace.folder, "--fast", "huge=17M", "-o", rules)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    this.true("no time is predicted", "this is a ranking" in done.stdout, done.stdout)
    file = tomllib.loads(rules.read_text(encoding="utf-8"))
    this.true("the phases, not what is alive in both", "first_phase" in done.stdout and "second_phase" in done.stdout and "all_along" not in done.stdout,
              done.stdout)
    this.true("there is no prediction", "prediction" not in file["advice"], file)
    again = this.trace(program, options=("--preload=off", "--place", rules))
    counts = {row["rule"]: row for row in again.rows("placement")}
    this.equal("blocks of the chosen sites", (counts[0]["matches"], counts[0]["bytes"], counts[0]["fallbacks"]), (8, 8 * 4 * MIB, 0))
    this.equal("all others", (counts[1]["matches"], counts[1]["bytes"]), (1, 5 * MIB))
    check_last_block(this)
    check_budget(this, trace)
    plain = this.trace(program, options=())
    missing = this.path("missing.toml")
    for words, said in (((trace.folder, "--fast", "99=1G", "-o", missing), "node 99"),
                        ((trace.folder, "--fast", "huge", "-o", missing), "NODE=SIZE"),
                        ((trace.folder, "--fast", "0=1G", "-o", missing), "no other node"),
                        ((trace.folder, "-o", missing), "--fast"),
                        ((trace.folder, "--fast", "huge=1G"), "-o FILE"),
                        ((trace.folder, "--fast", "huge=1G", "-o", rules), "exists already"),
                        ((plain.folder, "--fast", "huge=1G", "-o", missing), "--stacks"),
                        ((rules,), "--try"),
                        ((this.folder, "--fast", "huge=1G", "-o", missing), "no trace")):
        done = advise(this, *words)
        this.equal(f"{words}: status", done.returncode, 125, said=done.stderr)
        this.true(f"{words}: one line", done.stderr.count("\n") == 1 and said in done.stderr, done.stderr)
        this.true("no file", not missing.exists())


if __name__ == "__main__":
    case.run(check)
