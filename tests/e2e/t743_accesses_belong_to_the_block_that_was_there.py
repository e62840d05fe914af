# SPDX-License-Identifier: Apache-2.0
"""Blocks of two callers in turn, at addresses that the allocator uses again: each page fault inside a block belongs to that block and its caller, all
of them, and each page has one. A forked child's accesses belong to its parent's blocks."""

from bisect import bisect_right

from lib import accesses, case


def check_reused(this):
    trace = this.trace(this.victim("touches"), "reused", "1", "1", options=("--access=faults", "--alloc-min", "64K", "--python-stacks=off", "--sample=off"))
    facts = accesses.tried(trace, "faults")
    blocks = [[int(word) for word in line.split()] for line in trace.stdout.splitlines()]
    begins = [began for _, _, began, _, _ in blocks]
    reused = len(blocks) - len({address for _, address, *_ in blocks})
    this.true("addresses are used again", reused > len(blocks) // 2, reused)
    sites, found, wrong, outside = [set(), set()], 0, [], 0
    for row in trace.rows("access"):
        at = bisect_right(begins, row["ts"]) - 1
        if at < 0 or row["ts"] > blocks[at][3]:
            outside += 1
            continue
        caller, address, began, ended, pages = blocks[at]
        if not address <= row["addr"] < address + pages * accesses.PAGE:
            outside += 1
            continue
        found += 1
        sites[caller].add((row["site_library"], row["site_offset"]))
        if row["block_addr"] != address or not began <= row["block_ts"] <= ended or not row["first"]:
            wrong.append((row, blocks[at]))
    this.equal("accesses with another block", wrong[:2], [])
    this.true("enough of them", found > 1000, (found, facts))
    this.true("two callers, each its own", len(sites[0]) == len(sites[1]) == 1 and sites[0] != sites[1], sites)
    touched = sum(pages for *_, pages in blocks)
    print(f"{found} of {touched} first touches seen, all joined; {reused} of {len(blocks)} addresses used again; {facts['lost']} lost")
    faults = sum(row["faults"] for row in accesses.site_rows(trace, "faults"))
    this.true("the sites have them all", found <= faults <= found + outside, (faults, found, outside))


def check_child(this):
    trace, (hot, _), _, _ = accesses.record(this, "child", 8, 0, "faults")
    rows = [row for row in trace.rows("access") if row["block_addr"] is not None and hot <= row["addr"] < hot + (8 << 20)]
    by_process = {}
    for row in rows:
        by_process.setdefault(row["proc_id"], set()).add(row["addr"] // accesses.PAGE)
    lost = accesses.tried(trace, "faults")["lost"]
    this.true("parent and child touched each page of the block", len(by_process) == 2 and sum(map(len, by_process.values())) >= 2 * 2048 - lost, (by_process.keys(), lost))


def check(this):
    check_reused(this)
    check_child(this)


if __name__ == "__main__":
    case.run(check)
