# SPDX-License-Identifier: Apache-2.0
"""A program without names of functions is built again after it was recorded. mlrun says that its advice is for another build. Its callers cannot be
found, so the renewed file places no call site, and it is no longer about the recorded build."""

import shutil
import tomllib

from lib import case


def build(this, victim):
    program = this.path("app")
    program.unlink(missing_ok=True)
    shutil.copy2(this.victim(victim), program)
    done = this.run("strip", program)
    this.equal("strip", done.returncode, 0, said=done.stderr)
    return program


def check(this):
    case.need_huge_pages()
    old, new = this.path("old.toml"), this.path("new.toml")
    program = build(this, "phases")
    trace = this.trace(program, options=("--stacks=16", "--alloc-min=64K"))
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=17M", "-o", old)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    place = ("--preload=off", "--place")
    this.equal("the recorded build", this.trace(program, options=(*place, old)).stderr, "")
    build(this, "phases_other")
    stderr = this.trace(program, options=(*place, old)).stderr
    this.true("another build is said", f"not the build that was recorded: {program}" in stderr, stderr)
    done = this.run(case.MLRUN, "advise", old, "-o", new)
    this.true("no caller is found", "of 2 sites 0 are recognised by the names of functions, 2 are not found\n" in done.stdout, done.stdout + done.stderr)
    this.true("what that means", "all blocks go to the slow memory: record the program again" in done.stdout, done.stdout)
    file = tomllib.loads(new.read_text(encoding="utf-8"))
    this.equal("only the rule for all other blocks", [rule.get("site") for rule in file["rule"]], [None])
    this.equal("nothing of the recorded build", this.trace(program, options=(*place, new)).stderr, "")


if __name__ == "__main__":
    case.run(check)
