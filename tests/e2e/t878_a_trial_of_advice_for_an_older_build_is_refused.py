# SPDX-License-Identifier: Apache-2.0
"""A program is built again after it was recorded, so the rule of the chosen sites has no block. A trial of the old advice is refused before its
first run. Advice that was renewed for the new build is tried."""

import shutil

from lib import case


def check(this):
    case.need_huge_pages()
    program, old, new = this.path("app"), this.path("old.toml"), this.path("new.toml")
    shutil.copy2(this.victim("phases"), program)
    trace = this.trace(program, options=("--stacks=16", "--alloc-min=64K"))
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=17M", "-o", old)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    program.unlink()
    shutil.copy2(this.victim("phases_other"), program)
    done = this.run(case.MLRUN, "advise", old, "--try", this.path("trial"), "--quiet", timeout=600)
    this.equal("nothing is judged", (done.returncode, done.stdout), (125, ""), said=done.stderr)
    this.true("why", "not the build that was recorded" in done.stderr and f"mlrun advise {old} -o NEW" in done.stderr, done.stderr)
    this.true("before the first run", not this.path("trial").exists())
    this.run(case.MLRUN, "advise", old, "-o", new)
    done = this.run(case.MLRUN, "advise", new, "--try", this.path("trial_of_new"), "--quiet", timeout=600)
    this.equal("renewed", done.returncode, 0, said=done.stderr)
    this.true("renewed: no run is thrown out", "thrown out" not in done.stdout and "\nadvised " in done.stdout, done.stdout)


if __name__ == "__main__":
    case.run(check)
