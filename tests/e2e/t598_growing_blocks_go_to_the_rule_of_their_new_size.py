# SPDX-License-Identifier: Apache-2.0
"""A block of the program's allocator that grows goes to the first rule that fits its new size and did not cover its old one, also where another rule
covered the old size or had no room for it. A block that is copied while it grows counts with the size that it gets, not with the room behind it."""

from lib import case

KIB, MIB = 1 << 10, 1 << 20


def rules_of(this, what, *rules):
    options = ["--preload=off"] + [word for rule in rules for word in ("--place", rule)]
    trace = this.trace(this.victim("places_grown"), what, options=options)
    this.equal("contents are kept", trace.stdout, "1\n")
    (process,) = trace.run["placement"]["processes"]
    return process["rules"]


def check(this):
    # The block behind, of 64 KiB, is the only one of the first rule.
    small, large = rules_of(this, "steps", "size 64K..256K -> default", "size >= 16M -> default")
    this.equal("of the small rule", (small["matches"], small["bytes"]), (1, 64 * KIB), said=small)
    this.equal("of the large rule", (large["matches"], large["bytes"], large["fallbacks"]), (1, 16 * MIB, 0), said=large)
    this.true("it grew there", 64 * MIB <= large["peak_bytes"] < 90 * MIB, large)
    full, large = rules_of(this, "once", "size >= 64K -> default budget 1M", "size >= 16M -> default")
    this.equal("of the rule without room", (full["matches"], full["fallbacks"]), (2, 1), said=full)
    this.equal("of the next one", (large["matches"], large["bytes"]), (1, 32 * MIB), said=large)
    full, large = rules_of(this, "once", "size >= 64K -> default budget 1M", "size >= 1M -> default")
    this.equal("placed by the second rule from the start", (large["matches"], large["bytes"]), (1, 2 * MIB), said=large)
    (rule,) = rules_of(this, "small", "-> default")
    this.true("peak: both copies and the block behind", rule["peak_bytes"] <= (512 + 64 + 900) * KIB, rule)
    this.equal("blocks", rule["matches"], 2, said=rule)


if __name__ == "__main__":
    case.run(check)
