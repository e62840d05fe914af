# SPDX-License-Identifier: Apache-2.0
"""Two callers, of which the one with fewer bytes is hot: by bytes and time the other one would get the memory that only one of them fits into. With accesses
in the trace the hot one is chosen, and the file says what it was ranked by, and that this is no prediction."""

import tomllib

from lib import accesses, case

TIMES = "4"  # blocks of 2 and 3 MiB: smaller ones have no huge pages
RULES = ("--place", "size >= 2500K -> default", "--place", "size >= 64K -> default")  # mappings of their own


def advise(this, trace, name):
    rules = this.path(name)
    done = this.run(case.MLRUN, "advise", trace.folder, "--fast", "huge=50M", "-o", rules)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    return done.stdout, tomllib.loads(rules.read_text(encoding="utf-8"))["advice"]


def check(this):
    case.need_huge_pages()
    options = ("--stacks=16", "--alloc-min", "64K", "--python-stacks=off", "--sample=off")
    for seconds in ("4", "12", "40"):
        hot = this.trace(this.victim("two_sites"), seconds, TIMES, options=("--access=cold", *options, *RULES), timeout=300)
        accesses.tried(hot, "cold")
        if all(row["seen_byte_s"] for row in accesses.site_rows(hot, "cold")):
            break
    plain = this.trace(this.victim("two_sites"), "0.1", TIMES, options=options)
    said, advice = advise(this, plain, "plain.toml")
    this.true("by bytes and time: the larger one", "add_cold" in said and "add_hot" not in said and advice["ranked_by"] == "bytes x time", said)
    said, advice = advise(this, hot, "hot.toml")
    this.true("by heat: the hot one", "add_hot" in said and "add_cold" not in said, said)
    this.equal("ranked by", advice["ranked_by"], "hot bytes x time, by --access=cold")
    this.true("nearly all of the gain", advice["gain"] >= 0.95, advice)
    this.true("no time is predicted", "prediction" not in advice and "this is a ranking" in said, said)


if __name__ == "__main__":
    case.run(check)
