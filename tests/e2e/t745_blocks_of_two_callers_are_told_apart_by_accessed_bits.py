# SPDX-License-Identifier: Apache-2.0
"""Blocks of two callers in turn, one beside the other: accessed bits are read by mapping, so the callers get heaps of their own. The one whose blocks
are touched is hot, the other one cold, and nearly all of their bytes × time after the first window is attributed."""

from lib import accesses, case


def check(this):
    trace = this.trace(this.victim("two_sites"), "5", options=("--access=cold", "--alloc-min", "64K", "--python-stacks=off", "--sample=off"))
    accesses.tried(trace, "cold")
    blocks, size = map(int, trace.stdout.split())
    sites = [row for row in accesses.site_rows(trace, "cold") if row["blocks"] == blocks]
    this.equal("two sites with as many blocks and bytes", [row["bytes"] >= blocks * size for row in sites], [True, True])
    this.true("each is seen", all(row["seen_byte_s"] > 0.2 * row["byte_s"] for row in sites), sites)
    cold, hot = sorted(sites, key=lambda row: row["hot_fraction"])
    this.true("one is hot, one cold", hot["hot_fraction"] >= 0.98 and cold["hot_fraction"] <= 0.002, (hot["hot_fraction"], cold["hot_fraction"]))
    said = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary does not list the heaps as rules", "PLACED" not in said and "ACCESS by cold" in said, said)
    print("hot", hot["hot_fraction"], "cold", cold["hot_fraction"], "attributed", [row["seen_byte_s"] / row["byte_s"] for row in sites])


if __name__ == "__main__":
    case.run(check)
