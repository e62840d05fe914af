# SPDX-License-Identifier: Apache-2.0
"""A parent with many blocks forks often. The one child that writes into a block has that block; the others have none, so the sums of the sites are those of
memory that is there, and the merge does not copy all blocks for each child."""

from lib import accesses, case

BLOCKS, FORKS = 10000, 1000


def check(this):
    options = ("--access=faults", "--alloc-min", "4K", "--python-stacks=off", "--sample=off")
    trace = this.trace(this.victim("forks_with_blocks"), BLOCKS, FORKS, options=options)
    facts = accesses.tried(trace, "faults")
    processes = {row["proc_id"]: row["pid"] for row in trace.rows("process")}
    blocks = {}
    for row in accesses.site_rows(trace, "faults"):
        blocks[processes[row["proc_id"]]] = blocks.get(processes[row["proc_id"]], 0) + row["blocks"]
    child = int(trace.stdout)
    parent = max(blocks, key=blocks.get)
    this.true("the parent has its blocks", blocks.pop(parent) >= BLOCKS, blocks)
    if facts["lost"] == 0 and facts["on_ns"] == facts["all_ns"]:
        this.true("the child that wrote has its block", 1 <= blocks.pop(child, 0) <= 4, blocks)
    blocks.pop(child, None)
    this.equal("children that wrote nothing have none", blocks, {})


if __name__ == "__main__":
    case.run(check)
