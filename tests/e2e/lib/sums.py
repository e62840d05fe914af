# SPDX-License-Identifier: Apache-2.0
"""The tables `sum` and `sum_bucket` of a run with --summary-only, to be compared with the rows of an ordinary run."""

import json
import re

from lib import case

# Numbers of inodes and processes differ from run to run.
NUMBERS = re.compile(r"(?<=[:\[/])\d+(?=\]|/|$)")
ALLOCATIONS = ("malloc", "calloc", "realloc", "reallocarray", "free", "posix_memalign", "aligned_alloc", "memalign",
               "valloc", "pvalloc")


def plain(path):
    return NUMBERS.sub("N", path or "")


def added_up(rows):
    """rows: (key, numbers). The numbers of each key, added up."""
    sums = {}
    for key, numbers in rows:
        before = sums.get(key, [0] * len(numbers))
        sums[key] = [a + b for a, b in zip(before, numbers, strict=True)]
    return sums


def by_file_and_function(trace, table, waits):
    """(process, file, function, errno): calls, calls of the program. Of `sum` or `call`; waits depend on time."""
    commands = {row["proc_id"]: row["command"] for row in trace.rows("process")}
    left_out = set(ALLOCATIONS) | set(waits)
    return added_up(((commands.get(row["proc_id"]), plain(trace.paths.get(row["file_id"])), row["func"], row["err"]),
                     (row.get("calls", 1), row["served_calls"]))
                    for row in trace.rows(table) if row["func"] not in left_out)


def calls_of(trace, func, path=None):
    """Calls in the sums, of one function, perhaps on one file."""
    return sum(row["calls"] for row in trace.rows("sum")
               if row["func"] == func and (path is None or trace.paths.get(row["file_id"]) == str(path)))


def report(this, trace):
    done = this.run(case.MLRUN, "report", trace.folder, "--json")
    this.equal("exit status of report", done.returncode, 0, said=done.stderr)
    return json.loads(done.stdout)


def check_buckets(this, trace):
    """Every sum's buckets contain its calls, and are within its extremes."""
    durations, sizes = {}, {}
    for row in trace.rows("sum_bucket"):
        this.true("a bucket has an upper end", row["low"] < row["high"], row)
        (durations if row["measure"] == "duration" else sizes).setdefault(row["sum_id"], []).append(row)
    for row in trace.rows("sum"):
        buckets = durations.get(row["sum_id"], [])
        if row["func"] not in ALLOCATIONS:
            this.equal("calls in the buckets of durations", sum(bucket["calls"] for bucket in buckets), row["calls"])
        if buckets and row["func"] not in ALLOCATIONS:
            # A bucket is found by a clock rate close to that of the whole run.
            low, high = min(bucket["low"] for bucket in buckets), max(bucket["high"] for bucket in buckets)
            this.true("the shortest and the longest lie in them",
                      low * 0.99 - 2 <= row["min_ns"] <= row["max_ns"] <= high * 1.01 + 2, (row, low, high))
        asked = sizes.get(row["sum_id"], [])
        if asked:
            this.equal("calls in the buckets of sizes", sum(bucket["calls"] for bucket in asked), row["calls"])
            this.equal("bytes in the buckets of sizes", sum(bucket["bytes"] for bucket in asked), row["bytes"])
