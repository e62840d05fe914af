# SPDX-License-Identifier: Apache-2.0
"""A program whose own free (or whole malloc family) passes blocks on to libc's, and that allocates some of them by aligned_alloc and
posix_memalign, behaves as untraced with rules of placement, with the recorder and without: no block is placed, a mapping is, and the
summary says why. free_sized reaches that free. In another program the same rules place blocks."""

import json

from lib import case

RULES = ("--place", "-> default", "--place", "mmap size >= 4M -> default")
SAID = "1 program has a free or realloc in front of mlrun's: no rule places its blocks"


def placed(this, trace):
    """Programs without rules about blocks, and the matches of both rules."""
    reported = json.loads(this.run(case.MLRUN, "report", trace.folder, "--json").stdout)["placement"]
    this.equal("report --json", reported["without_block_rules"], trace.run["placement"]["without_block_rules"])
    return reported["without_block_rules"], *(rule["matches"] for rule in reported["rules"])


def check(this):
    for name in ("own_free", "own_family"):
        for recorder in ((), ("--preload=off",)):
            trace = this.untraced_and_traced(this.victim(name), options=(*recorder, *RULES))
            without, blocks, mappings = placed(this, trace)
            this.equal(f"{name}: programs, blocks placed", (without, blocks), (1, 0))
            this.true(f"{name}: its mapping is placed", mappings > 0, mappings)
            report = " ".join(this.run(case.MLRUN, "report", trace.folder).stdout.split())
            this.true(f"{name}: the summary says so", SAID in report, report)
    without, blocks, _ = placed(this, this.trace(this.victim("places"), "known", options=RULES))
    this.true("a program with libc's free: blocks placed", without == 0 and blocks > 0, (without, blocks))


if __name__ == "__main__":
    case.run(check)
