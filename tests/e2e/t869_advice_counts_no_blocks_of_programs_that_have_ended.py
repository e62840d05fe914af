# SPDX-License-Identifier: Apache-2.0
"""Programs one after another, each of which ends with its blocks, or executes the next with them: there are never more live blocks than one of them
has. Advice for a memory that holds the blocks of one program gives it to all of them, and for programs that run at once it does not."""

import sys
import tomllib

from lib import case

NEXT = "import os, sys; block = b'.' * (70 << 20); os.execv(sys.argv[1], [sys.argv[1], '0.1', '4'])"


def gain(this, name, *command):
    trace = this.trace(*command, options=("--stacks=16", "--alloc-min=64K", "--sample=off", "--python-stacks=off"))
    rules = this.path(name)
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=100M", "-o", rules)
    this.equal(f"{name}: exit status", done.returncode, 0, said=done.stderr)
    return tomllib.loads(rules.read_text(encoding="utf-8"))["advice"]["gain"]


def check(this):
    case.need_huge_pages()
    program = this.victim("two_sites")  # 80 MiB at its end, in blocks of 2 and 3 MiB
    this.equal("one after another", gain(this, "after.toml", "sh", "-c", 'for i in 1 2 3; do "$0" 0.1 4; done', program), 1)
    this.equal("one executes the other", gain(this, "exec.toml", sys.executable, "-c", NEXT, program), 1)
    at_once = gain(this, "at_once.toml", "sh", "-c", 'for i in 1 2 3; do "$0" 1 4 & done; wait', program)
    this.true("at once", at_once < 1, at_once)


if __name__ == "__main__":
    case.run(check)
