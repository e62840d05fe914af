# SPDX-License-Identifier: Apache-2.0
"""Blocks of two callers in turn, one beside the other: accessed bits are read by mapping, so little can be attributed. With a rule of --place for
each, which have mappings of their own, the callers are distinguished: the one whose blocks are touched is hot, the other one cold."""

from lib import accesses, case


def check(this):
    mixed = accesses.two_callers(this, "6")
    hot, cold = accesses.check_told_apart(this, "--place", "size >= 700K -> default", "--place", "size >= 64K -> default")
    this.true("without rules what is unknown is not guessed", all(row["seen_byte_s"] == 0 or not 2_000 < row["hot_ppm"] < 980_000 for row in mixed), mixed)
    print("hot", hot["hot_ppm"], "cold", cold["hot_ppm"], "attributed", [row["seen_byte_s"] / row["byte_s"] for row in (hot, cold, *mixed)])


if __name__ == "__main__":
    case.run(check)
