# SPDX-License-Identifier: Apache-2.0
"""A program is built again after it was recorded. Rules with the old build's signatures place nothing, and mlrun says which file has changed and what to
do; renewed by the names of functions they place the same blocks as before. Nothing is renewed for the same build."""

import shutil
import tomllib

from lib import case

MIB = 1 << 20


def placed(this, program, rules):
    trace = this.trace(program, options=("--preload=off", "--place", rules))
    counts = {row["rule"]: row for row in trace.rows("placement")}
    return trace.stderr, (counts[0]["matches"], counts[0]["bytes"]) if 0 in counts else (0, 0)


def check(this):
    case.need_huge_pages()
    program, old, new = this.path("app"), this.path("old.toml"), this.path("new.toml")
    shutil.copy2(this.victim("phases"), program)
    trace = this.trace(program, options=("--stacks=16", "--alloc-min=64K"))
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=17M", "-o", old)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    this.equal("the recorded build", placed(this, program, old), ("", (8, 8 * 4 * MIB)))
    same = this.path("same.toml")
    done = this.run(case.MLRUN, "advise", old, "-o", same)
    this.equal("nothing to renew", done.stdout, "of 2 sites 0 are recognised by the names of functions, 0 are not found\n", said=done.stderr)
    first, second = (tomllib.loads(path.read_text(encoding="utf-8")) for path in (old, same))
    this.equal("the same file", second, first)
    program.unlink()
    shutil.copy2(this.victim("phases_other"), program)
    said, counts = placed(this, program, old)
    this.equal("another build: nothing is placed as advised", counts, (0, 0))
    this.true("and it is said", f"not the build that was recorded: {program}" in said and "-o NEW" in said and said.count("\n") == 1, said)
    done = this.run(case.MLRUN, "advise", old, "-o", new)
    this.equal("renewed", done.stdout.splitlines(), [f"not the build that was recorded: {program}",
                                                     "of 2 sites 2 are recognised by the names of functions, 0 are not found"], said=done.stderr)
    this.equal("the same blocks", placed(this, program, new), ("", (8, 8 * 4 * MIB)))
    program.unlink()
    shutil.copy2(this.victim("hot_and_cold"), program)
    none = this.path("none.toml")
    done = this.run(case.MLRUN, "advise", old, "-o", none)
    this.true("functions that are gone", "0 are recognised by the names of functions, 2 are not found" in done.stdout, done.stdout + done.stderr)
    file = tomllib.loads(none.read_text(encoding="utf-8"))
    this.equal("nothing of the recorded build is left", (file["rule"][0].get("site"), file["advice"].get("libraries")), (None, None))


if __name__ == "__main__":
    case.run(check)
