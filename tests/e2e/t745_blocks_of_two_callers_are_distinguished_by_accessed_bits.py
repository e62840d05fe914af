# SPDX-License-Identifier: Apache-2.0
"""Blocks of two callers in turn, one beside the other: accessed bits are read by mapping, so little can be attributed. With a rule of --place for
each, which have mappings of their own, the callers are distinguished: the one whose blocks are touched is hot, the other one cold."""

from lib import accesses, case

RULES = ("--place", "size >= 700K -> default", "--place", "size >= 64K -> default")


def record(this, seconds, *options):
    trace = this.trace(this.victim("two_sites"), seconds, options=("--access=cold", "--alloc-min", "64K", "--python-stacks=off", "--sample=off", *options), timeout=300)
    accesses.tried(trace, "cold")
    blocks, small, large = map(int, trace.stdout.split())
    sites = sorted((row for row in accesses.site_rows(trace, "cold") if row["blocks"] == blocks), key=lambda row: row["bytes"])
    this.equal("bytes of the two callers", [row["bytes"] // blocks // 65536 * 65536 for row in sites], [small, large])
    return sites


def check(this):
    mixed = record(this, "6")
    for seconds in ("6", "20", "60"):  # on a busy machine few windows fit
        hot, cold = record(this, seconds, *RULES)
        if all(row["seen_byte_s"] > 0.2 * row["byte_s"] for row in (hot, cold)):
            break
    for row in (hot, cold):
        this.true("a rule of its own: seen from the second window on", row["seen_byte_s"] > 0.2 * row["byte_s"], row)
    this.true("one is hot, one cold", hot["hot_ppm"] >= 980_000 and cold["hot_ppm"] <= 2_000, (hot, cold))
    this.true("without rules what is unknown is not guessed", all(row["seen_byte_s"] == 0 or not 2_000 < row["hot_ppm"] < 980_000 for row in mixed), mixed)
    print("hot", hot["hot_ppm"], "cold", cold["hot_ppm"], "attributed", [row["seen_byte_s"] / row["byte_s"] for row in (hot, cold, *mixed)])


if __name__ == "__main__":
    case.run(check)
