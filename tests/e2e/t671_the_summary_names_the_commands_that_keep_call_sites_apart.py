# SPDX-License-Identifier: Apache-2.0
"""Blocks of two callers in one mapping, of which one is touched, recorded without stacks: which caller is hot is unknown, and the summary names the commands that
show it. These are the ones of t656."""

from lib import accesses, case

COMMANDS = ("mlrun --stacks=16 --alloc-min=64K -o NEW COMMAND, then mlrun advise NEW --apart -o FILE, "
            "then mlrun --place FILE --access=cold --stacks=16 --alloc-min=64K COMMAND")


def check(this):
    for seconds in ("6", "20", "60"):  # on a busy machine few windows fit
        trace = this.trace(this.victim("two_sites"), seconds, options=("--access=cold", "--alloc-min", "64K", "--python-stacks=off", "--sample=off"))
        accesses.tried(trace, "cold")
        summary = " ".join(this.run(case.MLRUN, "report", trace.folder).stdout.split())
        if COMMANDS in summary:
            break
    this.true("the commands", COMMANDS in summary, summary)


if __name__ == "__main__":
    case.run(check)
