# SPDX-License-Identifier: Apache-2.0
"""--alloc-sample: listed and counted allocations add up exactly to the issued ones, and the weights of the listed ones
estimate them; a free is listed if and only if its block was listed."""

import json
import math

from lib import case

ISSUED, MEAN = 200_000, 4 << 10
GLIBCS_OWN = 4   # the new thread's own blocks


def size_of(number):
    mixed = number * 0x9e3779b97f4a7c15 % (1 << 64)
    return 1 + (mixed >> 40) % (64 << (mixed >> 61))


def expect_near(this, what, got, wanted, deviation):
    this.true(f"{what}: {got:.0f}, wanted {wanted} give or take {deviation:.0f}", abs(got - wanted) <= 5 * deviation)


def check(this):
    sizes = [size_of(number) for number in range(ISSUED)]
    trace = this.trace(this.victim("sampled"), ISSUED, options=["--alloc-sample", "4K"])
    rows, small = trace.rows("alloc"), trace.rows("alloc_small")
    listed = [row for row in rows if row["op"] != "free"]
    frees = [row for row in rows if row["op"] == "free"]
    counted, counted_frees = (sum(row[column] for row in small) for column in ("mallocs", "frees"))
    issued = len(listed) + counted
    this.true(f"allocations listed and counted: {issued}", ISSUED <= issued <= ISSUED + GLIBCS_OWN)
    freed = len(frees) + counted_frees
    this.true(f"frees listed and counted: {freed}", ISSUED * 7 // 10 <= freed <= ISSUED * 7 // 10 + GLIBCS_OWN)
    chance = [1 - math.exp(-size / MEAN) for size in sizes]
    this.true("both kinds are many", len(listed) > 5000 and counted > 50_000)
    expect_near(this, "listed", len(listed), sum(chance), math.sqrt(sum(p * (1 - p) for p in chance)))
    expect_near(this, "estimated blocks", sum(row["weight"] for row in listed), ISSUED,
                math.sqrt(sum((1 - p) / p for p in chance)))
    expect_near(this, "estimated bytes", sum(row["weight"] * row["size"] for row in listed), sum(sizes),
                math.sqrt(sum(size * size * (1 - p) / p for size, p in zip(sizes, chance, strict=True))))
    live = set()
    for row in sorted(rows, key=lambda row: row["ts"]):
        if row["op"] != "free":
            live.add(row["addr"])
            continue
        this.true("every listed free is of a listed block", row["addr"] in live, row)
        live.remove(row["addr"])
    stay = sum(p for number, p in enumerate(chance) if number % 10 >= 7)
    expect_near(this, "listed blocks that stay", len(live), round(stay), math.sqrt(stay))
    reported = json.loads(this.run(case.MLRUN, "report", trace.folder, "--json").stdout)["tracing"]
    this.equal("the report's estimate", (reported["alloc_sample_bytes"], reported["estimated_allocations"]),
               (MEAN, round(sum(row["weight"] for row in listed))))
    this.true("the summary says it", "SAMPLED" in this.run(case.MLRUN, "report", "--full", trace.folder).stdout)
    this.equal("losses", trace.rows("loss"), [])
    everything = this.trace(this.victim("sampled"), 2000, options=["--alloc-min", "0"])
    this.equal("weights without sampling", {row["weight"] for row in everything.rows("alloc")}, {1.0})


if __name__ == "__main__":
    case.run(check)
