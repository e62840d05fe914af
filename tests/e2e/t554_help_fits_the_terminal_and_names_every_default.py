# SPDX-License-Identifier: Apache-2.0
"""Help pages fit the terminal, every option of `run` states its default, the values of streams are explained, and verbs
have examples."""

import re

from lib import case, documents
from lib.summary_text import on_terminal

SWEEPS = ("sweep list", "sweep stat", "sweep compare", "sweep history")  # verbs of a verb, with help pages of their own


def check_width(this, what, lines, width):
    """Commands of examples stay whole, to be copied."""
    wide = [line for line in lines if len(line) > width and not line.startswith("  mlrun ")]
    this.equal(f"{what}: lines wider than {width}", wide, [])


def check(this):
    for width in (50, 80):
        check_width(this, "mlrun --help", on_terminal(this, width, "--help"), width)
    for verb in (*documents.verbs(this), *SWEEPS):
        for width in (50, 80, 100):
            check_width(this, verb, on_terminal(this, width, *verb.split(), "--help"), width)
        piped = this.run(case.MLRUN, *verb.split(), "--help").stdout
        check_width(this, f"{verb}, piped", piped.splitlines(), 80)
        this.true(f"{verb}: examples", "Examples" in piped and f"  mlrun {verb if verb != 'run' else ''}".rstrip() in piped, piped)
    for verb, options in (("compare", ("--base NAME", "--margin PERCENT", "--figure NAME", "--fail-if CONDITION")), ("sweep history", ("--figure NAME",)),
                          ("sweep stat", ("--format text|heimdallr",)), ("merge", ("--threads NUMBER", "--offset TIME")), ("report", ("--driver TID",))):
        page = this.run(case.MLRUN, *verb.split(), "--help").stdout
        this.equal(f"{verb}: options without the name of their value", [name for name in options if f"  {name}" not in page], [], page)
    narrow = this.run(case.MLRUN, "run", "--help", env=this.environment | {"COLUMNS": "60"}).stdout
    check_width(this, "COLUMNS", narrow.splitlines(), 60)
    check_width(this, "doctor in a terminal", [line for line in on_terminal(this, 60, "doctor") if "/" not in line], 60)

    text = this.run(case.MLRUN, "run", "--help").stdout
    body = text.partition("\nExamples:")[0]
    entries = re.split(r"\n(?=  -)", body)[1:]
    this.true("options", len(entries) >= 30, len(entries))
    for entry in entries:
        words = " ".join(entry.split("\n\n")[0].split())
        this.true("has its default", "default" in words or words.startswith("-h,--help"), words)
    for word in ("=auto", "=all", "=require", "=off", "=files", "=allocs", "=marks", "=block", "=vfs", "=gpu"):
        this.true(f"{word} is explained", word in body, body)
    groups = [line for line in body.splitlines() if line.endswith(":") and not line.startswith(" ")]
    this.true("groups", len(groups) >= 6, groups)


if __name__ == "__main__":
    case.run(check)
