# SPDX-License-Identifier: Apache-2.0
"""What is resident of a rule's blocks, the kept pages of freed ones included, stays within its budget when realloc grows a block where it
is or moves it, and after it has made one smaller. No block leaves the rule: each of the cases fits."""

from lib import case

MIB = 1 << 20
BUDGET_MIB = 32
MORE_MIB = 3  # tables of the heap; a huge page that reaches beyond the last block


def check(this):
    for what in ("widens", "moves", "grows", "shrinks"):
        trace = this.trace(this.victim("places_budget"), what, options=("--preload=off", "--place", f"size >= 1M -> default budget {BUDGET_MIB}M"))
        resident, kept = map(int, trace.stdout.split())
        (rule,) = trace.rows("placement")
        print(f"{what}: {resident / MIB:.1f} MiB resident, {rule['peak_bytes'] / MIB:.1f} alive at once")
        this.equal(f"{what}: contents", kept, 1)
        this.equal(f"{what}: blocks that left the rule", rule["fallbacks"], 0, said=rule)
        this.true(f"{what}: alive", rule["live_bytes"] > 20 * MIB, rule)
        this.true(f"{what}: resident", resident <= (BUDGET_MIB + MORE_MIB) * MIB, resident / MIB)


if __name__ == "__main__":
    case.run(check)
