# SPDX-License-Identifier: Apache-2.0
"""--alloc-dur: every listed allocation and free has a duration, and nothing else changes. Threads of one arena pass
blocks of the same sizes around, so that a thread may get a block before another's free of it has returned: each block
has one owner at a time and is freed by its owner, and the blocks live at the end are those that the program reports.
The counts stay exact however threads and processes end."""

import json

from lib import case, issued

ROUNDS, THREADS = 20_000, 4
SIZES = {777: 792, 5003: 5016, 20011: 20024}   # requested size, and what glibc allocates or up to 16 more
OPTIONS = ["--lossless", "--alloc-min", "0", "--alloc-dur"]


def is_ours(row):
    if row["op"] == "malloc":
        return row["size"] in SIZES
    return row["op"] == "free" and any(usable <= row["size"] <= usable + 16 for usable in SIZES.values())


# A free releases its block at its begin, an allocation owns it at its end.
def moment(row):
    return row["ts"] if row["op"] == "free" else row["ts"] + row["dur"]


# A processor may read its clock before what it does next to get the block from another one is over.
CLOCK_NS = 500


def follow(this, rows):
    """The blocks that are live at the end, and how often one was allocated again before its free returned."""
    live, last_free, early, overlaps = set(), {}, {}, 0
    for row in sorted(rows, key=moment):
        address = row["addr"]
        if row["op"] == "free":
            if address in live:
                live.remove(address)
            else:
                this.true("a freed block was live", address not in early, row)
                early[address] = row
            last_free[address] = row["ts"] + row["dur"]
        elif address in early:
            free = early.pop(address)
            this.true("a freed block was live", moment(row) - free["ts"] <= CLOCK_NS, (row, free))
        else:
            this.true("an allocated block was not live", address not in live, row)
            live.add(address)
            overlaps += last_free.get(address, 0) > row["ts"] + row["dur"]
    this.equal("freed without an owner", early, {})
    return live, overlaps


def blocks_that_go_round(this, victim, least_overlaps):
    environment = this.environment | {"MALLOC_ARENA_MAX": "1"}
    trace = this.trace(this.victim(victim), ROUNDS, THREADS, options=OPTIONS, env=environment)
    mallocs, frees, *left = map(int, trace.stdout.split())
    all_rows = trace.rows("alloc")
    this.equal("rows without a duration", [row for row in all_rows if row["dur"] is None][:3], [])
    # The counter of some processors moves in steps of 10 ns: a few of the short ones fall into one step.
    this.true("they took time", sum(row["dur"] > 0 for row in all_rows) > 0.9 * len(all_rows))
    this.true("and none went backwards", all(row["dur"] >= 0 for row in all_rows))
    rows = [row for row in all_rows if is_ours(row)]
    this.equal("allocations and frees", (sum(row["op"] == "malloc" for row in rows), sum(row["op"] == "free" for row in rows)),
               (mallocs, frees))
    live, overlaps = follow(this, rows)
    this.equal("what is live at the end", sorted(live), sorted(left))
    this.true(f"given out again before the free was over: {overlaps}", overlaps >= least_overlaps)
    this.equal("losses", trace.rows("loss"), [])
    this.equal("ends that row groups do not hold", [row for row in all_rows if row["ts"] + row["dur"] > row["end_max"]][:3], [])
    return trace


def durations_in_sums(this):
    trace = this.trace(this.victim("hands_over"), ROUNDS, THREADS, options=[*OPTIONS, "--summary-only"])
    timed = {}
    for row in trace.rows("sum_bucket"):
        if row["measure"] == "duration":
            timed[row["sum_id"]] = timed.get(row["sum_id"], 0) + row["calls"]
    sums = [row for row in trace.rows("sum") if row["func"] in ("malloc", "free")]
    this.true("sums", sums)
    for row in sums:
        this.equal(f"measured of {row['func']}", timed.get(row["sum_id"]), row["calls"])
        this.true("plausible", 0 <= row["min_ns"] <= row["max_ns"] <= row["time_ns"] and row["max_ns"] > 0, row)
    mallocs, frees, *_ = map(int, trace.stdout.split())
    total = {func: sum(row["calls"] for row in sums if row["func"] == func) for func in ("malloc", "free")}
    this.true("all are there", total["malloc"] >= mallocs and total["free"] >= frees, total)


def check(this):
    trace = blocks_that_go_round(this, "hands_over", 0)
    slow = blocks_that_go_round(this, "hands_over_lingering", ROUNDS // 200)
    this.true("their frees linger", all(row["dur"] >= 20000 for row in slow.rows("alloc") if row["op"] == "free"))
    durations_in_sums(this)
    for victim, arguments, more in (("issues_threads", (300, 40, 10), {}), ("issues_forks", (300, 30, 3), {"killed": 10}),
                                    ("issues_ends", (10000, "kill"), {"killed": 2, "status": 137}),
                                    ("issues_handler", (50000,), {})):
        issued.expect_lossless(this, victim, *arguments, options=("--alloc-dur",), **more)
    self_told = json.loads((trace.folder / "run.json").read_text())["options"]
    this.equal("run.json says it", self_told["alloc_times"], True)
    plain = this.trace(this.victim("hands_over"), 100, 2, options=["--alloc-min", "0"])
    small = {row["op"] for row in plain.rows("alloc") if row["dur"] is not None and row["size"] < 1 << 17}
    this.true("without it small blocks have none", small <= {"realloc", "reallocarray"}, small)
    refused = this.run(*this.command("true", out=this.new_trace(), options=["--preload=files", "--alloc-dur"]))
    this.true("it goes with allocations", refused.returncode != 0 and "--alloc-dur" in refused.stderr, refused.stderr)


if __name__ == "__main__":
    case.run(check)
