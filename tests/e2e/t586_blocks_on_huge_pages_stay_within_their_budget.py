# SPDX-License-Identifier: Apache-2.0
"""A block of 2.1 MiB fills two huge pages once its end is touched. What is resident of the blocks of a rule with `huge` stays within its budget,
which counts whole huge pages; what has no room goes to the program's allocator. So it does where a block takes a freed one's place that had not used
all of its room. A small block that grows takes no freed one's huge pages."""

from lib import case

MIB = 1 << 20
BUDGET_MIB, BLOCKS = 40, 100
REUSED_MIB = 22  # live, with all that is kept


def check(this):
    case.need_huge_pages()
    trace = this.trace(this.victim("places_rounds"), "many", str(21 * MIB // 10), str(BLOCKS),
                       options=("--preload=off", "--place", f"size >= 1M -> huge budget {BUDGET_MIB}M"))
    (rule,) = trace.rows("placement")
    resident_kib = int(trace.stdout)
    this.equal("blocks that fit", (rule["matches"], rule["fallbacks"]), (BLOCKS, BLOCKS - BUDGET_MIB // 4), said=rule)
    this.equal("alive", rule["live_bytes"], BUDGET_MIB * MIB)
    this.true("some is resident", resident_kib >= 21 * BUDGET_MIB // 4 * 1024 // 10, resident_kib)
    this.true("resident", resident_kib <= (BUDGET_MIB + 2) << 10, resident_kib)
    trace = this.trace(this.victim("places_rounds"), "reused", "0",
                       options=("--preload=off", "--place", f"size >= 1M -> huge budget {REUSED_MIB}M"))
    (rule,) = trace.rows("placement")
    this.equal("fallbacks", rule["fallbacks"], 0, said=rule)
    this.true("resident, with a freed block's room in use", 16 << 10 <= int(trace.stdout) <= REUSED_MIB << 10, trace.stdout)
    trace = this.trace(this.victim("places_rounds"), "small", "0",
                       options=("--preload=off", "--place", f"size >= 16K -> default budget {BUDGET_MIB}M"))
    this.equal("KiB of huge pages of a small block, after a large one was freed", int(trace.stdout), 0)


if __name__ == "__main__":
    case.run(check)
