# SPDX-License-Identifier: Apache-2.0
"""For a static program, and for one whose blocks are smaller than --alloc-min, accesses are listed without a block, and coverage says that no
allocation is listed that they could belong to. For other programs it does not."""

from lib import accesses, case


def says_so(trace):
    return [row["detail"] for row in trace.rows("coverage") if row["subject"] == "accesses" and "no allocation is listed" in row["detail"]]


def check(this):
    options = ("--access=faults", "--python-stacks=off", "--sample=off")
    none = this.trace(this.victim("touches_static"), "random", "4", "0.2", options=options)
    accesses.tried(none, "faults")
    high = this.trace(this.victim("touches"), "random", "4", "0.2", options=(*options, "--alloc-min", "1G"))
    usual = this.trace(this.victim("touches"), "random", "4", "0.2", options=options)
    for name, trace in (("static", none), ("above all", high)):
        rows = trace.rows("access")
        this.true(f"{name}: accesses without a block", len(rows) > 1000 and all(row["block_addr"] is None for row in rows), len(rows))
        this.equal(f"{name}: sites", trace.rows("access_site"), [])
        this.equal(f"{name}: said once", len(says_so(trace)), 1, said=says_so(trace))
        this.true("the summary says it", "no allocation is listed" in " ".join(this.run(case.MLRUN, "report", trace.folder).stdout.split()))
    this.equal("with listed blocks it is not said", says_so(usual), [])


if __name__ == "__main__":
    case.run(check)
