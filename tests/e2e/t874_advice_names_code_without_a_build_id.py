# SPDX-License-Identifier: Apache-2.0
"""Rules name callers by build ids. A program that is linked without one gets no advice: the error names the program and the option that gives it one."""

from lib import case


def check(this):
    case.need_huge_pages()
    rules = this.path("rules.toml")
    trace = this.trace(this.victim("phases_plain"), options=("--stacks=16", "--alloc-min=64K"))
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=17M", "-o", rules)
    this.equal("status and lines", (done.returncode, done.stderr.count("\n")), (125, 1), said=done.stderr)
    for what in ("9 of 9 blocks of 2.00 MiB and more", "without a build id", this.victim("phases_plain"), "-Wl,--build-id"):
        this.true(what, what in done.stderr, done.stderr)
    this.true("no file", not rules.exists())


if __name__ == "__main__":
    case.run(check)
