# SPDX-License-Identifier: Apache-2.0
"""A forked child frees or resizes small blocks of its parent before, between and after those that it allocates itself: the peak of
its heap counts only its own. Small blocks have no records, so the library separates them while the program runs."""

from lib import case

BLOCKS, OWN_USABLE = 100_000, 56


def check(this):
    for how, children in (("first", 1), ("mixed", 1), ("last", 1), ("resized", 1), ("grandchild", 2)):
        trace = this.trace(this.victim("frees_inherited"), how, options=("--lossless",))
        peaks = [row["heap_peak_recorded"] + row["heap_peak_counted"] for row in trace.rows("summary_process")][1:]
        this.equal(f"children with {how}", len(peaks), children)
        least = BLOCKS * OWN_USABLE
        most = BLOCKS * (104 if how == "resized" else OWN_USABLE) + 100_000  # libc may keep a block that is resized as it is
        this.true(f"peak of the child with {how}", least <= peaks[-1] <= most, (peaks, least, most))


if __name__ == "__main__":
    case.run(check)
