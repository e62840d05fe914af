# SPDX-License-Identifier: Apache-2.0
"""Forked processes that allocate by the same code: access_site has a row for each, the report one for all, with their sums."""

import json

from lib import accesses, case

PROCESSES = 12


def check(this):
    trace = this.trace(this.victim("same_site"), str(PROCESSES), options=("--access=faults", "--alloc-min", "64K", "--python-stacks=off", "--sample=off"))
    accesses.tried(trace, "faults")
    by_code = {}
    for row in accesses.site_rows(trace, "faults"):
        by_code.setdefault((row["site_library"], row["site_offset"]), []).append(row)
    mine = max(by_code.values(), key=len)
    this.equal("rows of the site in access_site", len(mine), PROCESSES)
    summary = json.loads(this.run(case.MLRUN, "report", "--json", trace.folder).stdout)
    (found,) = summary["memory_access"]
    this.equal("sites", found["sites"], len(by_code))
    (site,) = (one for one in found["largest"] if one["processes"] == PROCESSES)
    for sum_of in ("blocks", "bytes", "samples", "faults"):
        this.equal(f"{sum_of} of the site", site[sum_of], sum(row[sum_of] for row in mine))


if __name__ == "__main__":
    case.run(check)
