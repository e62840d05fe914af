# SPDX-License-Identifier: Apache-2.0
"""Blocks of a trace that has lost records may be missing, or seem to live longer: one line of the advice says so. Without losses there is no such line."""

from lib import case, nodes

LINE = "records of this trace were lost"


def check(this):
    case.need_huge_pages()
    trace = this.trace(this.victim("phases"), options=("--stacks=16", "--alloc-min=64K"))
    for name, losses in (("whole", 0), ("lossy", 3)):
        nodes.edit_run(trace.folder, lambda run, count=losses: run["totals"].update(losses=count))
        done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=17M", "-o", this.path(f"{name}.toml"))
        this.equal(f"{name}: exit status", done.returncode, 0, said=done.stderr)
        this.equal(f"{name}: lines about losses", sum(LINE in line for line in done.stdout.splitlines()), 1 if losses else 0, said=done.stdout)


if __name__ == "__main__":
    case.run(check)
