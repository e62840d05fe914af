# SPDX-License-Identifier: Apache-2.0
"""Blocks of two callers in turn, at addresses that the allocator uses again: each page fault inside a block belongs to that block and its caller, all
of them, and each page has one. A forked child's accesses belong to its parent's blocks."""

from lib import accesses, case


def check_child(this):
    trace, (hot, _), _, _ = accesses.record(this, "child", 8, 0, "faults")
    rows = [row for row in trace.rows("access") if row["block_addr"] is not None and hot <= row["addr"] < hot + (8 << 20)]
    by_process = {}
    for row in rows:
        by_process.setdefault(row["proc_id"], set()).add(row["addr"] // accesses.PAGE)
    lost = accesses.tried(trace, "faults")["lost"]
    this.true("parent and child touched each page of the block", len(by_process) == 2 and sum(map(len, by_process.values())) >= 2 * 2048 - lost, (by_process.keys(), lost))


def check(this):
    accesses.check_reused(this, "reused", "1")
    check_child(this)


if __name__ == "__main__":
    case.run(check)
