# SPDX-License-Identifier: Apache-2.0
"""A block that realloc has grown from 64 KiB to 64 MiB is no small one: huge pages are not forbidden in it, and by the rule it has them."""

from lib import case

MIB = 1 << 20
BYTES = 64 * MIB


def check(this):
    program = this.victim("places_rounds")
    targets = ("default", "huge") if case.has_huge_pages() else ("default",)
    for target in targets:
        trace = this.trace(program, "grown", str(BYTES), options=("--preload=off", "--place", f"-> {target}"))
        forbidden, resident, huge = (int(word) for word in trace.stdout.split())
        (rule,) = trace.rows("placement")
        this.true(f"{target}: the block stayed in the heap", rule["live_bytes"] >= BYTES and not rule["fallbacks"], rule)
        this.equal(f"{target}: huge pages are forbidden", forbidden, 0)
        this.true(f"{target}: is resident", resident >= BYTES >> 10, resident)
        if target == "huge":
            this.true("KiB in huge pages", huge >= BYTES >> 11, huge)


if __name__ == "__main__":
    case.run(check)
