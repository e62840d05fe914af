# SPDX-License-Identifier: Apache-2.0
"""By MADV_COLD: of random touches the pages that were touched, within 2 %, and nothing of a block that was not; a hot set that never leaves the TLB; huge
pages in units of 2 MiB. Each window's bytes are joined with the block if it is alone in its mapping, and the summary names the rung, its cost and what it
cannot see. No call takes longer than 5 ms."""

from lib import accesses, case

MIB, HUGE = 1 << 20, 2 << 20
LONGEST_NS = 5_000_000  # a call of more than 2 ms halves the next ones


def windows(trace, address):
    """Touched bytes of the mapping with this block, in its windows."""
    rows = [row for row in trace.rows("access") if row["addr"] <= address < row["addr"] + row["bytes"] and not row["filling"]]
    return rows, [row["touched_bytes"] for row in rows]


def check(this):
    for what, mib in (("random", 64), ("hot", 16), ("huge", 128)):
        for seconds in (5, 12, 40):  # on a busy machine few windows fit, and a call may have to wait for a processor
            trace, (hot, cold), pages, _ = accesses.record(this, what, mib, seconds, "cold")
            facts = accesses.tried(trace, "cold")
            rows, touched = windows(trace, hot)
            if rows and facts["worst_stall_ns"] <= LONGEST_NS:
                break
        this.true(f"{what}: windows of a second or more", len(rows) >= 1 and all(row["dur"] >= 10**9 for row in rows), rows)
        unit = HUGE if what == "huge" else accesses.PAGE
        if what == "huge" and not all(row["huge_bytes"] >= mib * MIB * 0.9 for row in rows):
            print("no huge pages here")
            continue
        # Both blocks are one mapping, and the cold one adds nothing to it.
        this.true(f"{what}: as much as was touched", all(0.98 * pages * unit <= one <= 1.02 * pages * unit + 16 * accesses.PAGE for one in touched), (touched, pages * unit))
        _, others = windows(trace, cold)
        this.true(f"{what}: the cold block is not touched", all(one <= 1.02 * pages * unit + 16 * accesses.PAGE for one in others), others)
        this.true(f"{what}: calls are short", 0 < facts["worst_stall_ns"] <= LONGEST_NS, facts)
        print(what, "touched", touched, "of", pages * unit, "longest call", facts["worst_stall_ns"], "ns")
    said = " ".join(this.run(case.MLRUN, "report", trace.folder).stdout.split())
    for text in ("ACCESS by cold", "costs: each 4 KiB page takes", "not seen: how often"):
        this.true(f"the summary says {text!r}", text in said, said)


if __name__ == "__main__":
    case.run(check)
