# SPDX-License-Identifier: Apache-2.0
"""A rule counts the blocks that it fits, to the byte: by size, by caller, by process. The first rule that fits gets a block, and one that
fits nothing counts nothing. Frees of all sizes are counted: what is live at the end is what the program kept. The recorder lists the same
blocks with a placement as without."""

from collections import Counter

from lib import case

EARLY = 1 << 20  # the victim's block before main, and those behind it


def rules_of(trace):
    return [rule for process in trace.run["placement"]["processes"] for rule in process["rules"]]


def listed(trace):
    return Counter((row["op"], row["size"]) for row in trace.rows("alloc") if row["size"] >= 65536 and row["op"] != "free")


def check(this):
    program = this.victim("places")
    plain = this.trace(program, "known")
    one = this.trace(program, "known", options=("--place", "-> default"))
    (rule,) = rules_of(one)
    # 20 by the program's main, its early block, its late one and the resize of that one
    this.equal("matches", rule["matches"], 20 + 2)
    this.equal("bytes", rule["bytes"], 10 * 65536 + sum(65536 + i for i in range(5)) + 5 * 100000 + EARLY + 3 * EARLY)
    pages = 65536 + 4 * (65536 + 4096)
    this.equal("alive at the end", rule["live_bytes"], pages)
    this.equal("the same allocations are listed", listed(one), listed(plain))
    two = this.trace(program, "known", options=("--place", "size 64K..64K -> default", "--place", "library libc* -> default",
                                                "--place", "library places -> default"))
    counts = [rule["matches"] for rule in rules_of(two)]
    this.equal("matches of the rules in their order", counts, [11, 0, 11])
    worker = this.trace(program, "forks", options=("--place", "worker -> default", "--place", "main -> default"))
    by_process = {process["pid"]: [rule["matches"] > 0 for rule in process["rules"]] for process in worker.run["placement"]["processes"]}
    this.equal("main and worker", sorted(by_process.values()), [[False, True], [True, False]])


if __name__ == "__main__":
    case.run(check)
