# SPDX-License-Identifier: Apache-2.0
"""Collectives of two ranks, reported as by NCCL, are rows with communicator, number, bytes, reduction and rank, and the
skew of their starts, which the ranks also measured themselves. Older NCCL reports less."""

import json
import statistics

from gpu_case import need_nvtx_program, report
from lib import case

STEPS, SKEW_US = 40, 20_000
COMMUNICATOR = "0xfedcba9876543210"


def own_times(trace):
    """What the ranks said: by number, rank -> (before the range, after it)."""
    times = {}
    for line in trace.stdout.splitlines():
        number, rank, before, after = map(int, line.split())
        times.setdefault(number, {})[rank] = (before, after)
    return times


def check_rows(this, trace):
    rows = trace.rows("collective")
    # Two clocks are compared as well as they were read together; a tick is shorter than a nanosecond. A collector with a
    # sanitizer takes its time for that.
    slack = trace.run["clock"]["end"]["width_ticks"]
    by_operation = {}
    for row in rows:
        by_operation.setdefault(row["operation"], []).append(row)
    this.equal("rows", {name: len(found) for name, found in by_operation.items()},
               {"AllReduce": 2 * STEPS, "Broadcast": 2, "Send": 1, "Recv": 1})
    this.equal("communicator and ranks", {(row["communicator"], row["ranks"], row["open"]) for row in rows},
               {(COMMUNICATOR, 2, False)})
    for rank in (0, 1):
        mine = sorted((row for row in by_operation["AllReduce"] if row["rank"] == rank), key=lambda row: row["ts"])
        this.equal("numbers", [row["sequence"] for row in mine], list(range(STEPS)))
        this.equal("bytes", [row["bytes"] for row in mine], [4096 << step % 2 for step in range(STEPS)])
        this.equal("reduction", [row["reduction"] for row in mine], ["Max" if step % 2 else "Sum" for step in range(STEPS)])
        this.equal("one process each", len({(row["proc_id"], row["pid"], row["tid"]) for row in mine}), 1)
        for row in mine:
            before, after = own_times(trace)[row["sequence"]][rank]
            this.true("the row lies where the rank says",
                      before - slack <= row["ts"] <= row["ts"] + row["dur"] <= after + slack, (row, before, after))
    this.equal("broadcast", [(row["root"], row["peer"], row["sequence"], row["bytes"]) for row in by_operation["Broadcast"]],
               [(1, None, STEPS, 1 << 20)] * 2)
    this.equal("send", [(row["rank"], row["peer"], row["sequence"], row["bytes"]) for row in by_operation["Send"]],
               [(0, 1, None, 77)])
    this.equal("losses", trace.rows("loss"), [])
    this.equal("all payloads were readable", [row for row in trace.rows("coverage") if "NVTX" in row["subject"]], [])


def check_marks(this, trace):
    """Ranges are in `mark` as usual, with their payloads."""
    marks = [row for row in trace.rows("mark") if row["domain"] == "nvtx:NCCL"]
    values = {trace.names[row["name_id"]]: row["value"] for row in marks}
    this.equal("all ranges ended", [row for row in marks if row["open"]], [])
    made = json.loads(values["ncclCommInitRank"])
    this.equal("what the end of a range brings", made["No. of ranks"], 2)
    this.equal("communicator", made["NCCL communicator ID"], int(COMMUNICATOR, 16))
    this.equal("a range without a payload", values["ncclGroupEnd"], None)


def check_skew(this, trace):
    bounds = []  # least and greatest that the skew can have been, by the ranks' own clocks
    for ranks in own_times(trace).values():
        bounds.append((max(ranks[1][0] - ranks[0][1], 0), max(ranks[1][1] - ranks[0][0], ranks[0][1] - ranks[1][0])))
    sums = {row["operation"]: row for row in report(this, trace)["collectives"]}
    skew = sums["AllReduce"]["start_skew_ns"]
    this.equal("compared", (sums["AllReduce"]["count"], sums["AllReduce"]["compared"]), (2 * STEPS, STEPS))
    low, high = (statistics.median_low(sorted(bound[i] for bound in bounds)) for i in (0, 1))
    this.true("median skew", low * 0.98 <= skew["p50"] <= high * 1.02, (low, skew, high))
    this.true("largest skew", max(a for a, _ in bounds) <= skew["max"] <= max(b for _, b in bounds), (bounds, skew))
    this.true("quantiles in order", skew["p50"] <= skew["p99"] <= skew["max"], skew)
    late = {row["proc_id"] for row in trace.rows("collective") if row["rank"] == 1}
    wanted = sum(1 for ranks in own_times(trace).values() if ranks[1][0] > ranks[0][1])
    this.equal("the late rank", {sums["AllReduce"]["last_proc_id"]}, late)
    this.true("how often", sums["AllReduce"]["last_times"] >= wanted, (sums, wanted))
    this.equal("sends are not compared", (sums["Send"]["compared"], sums["Send"]["start_skew_ns"]["p50"]), (0, None))
    said = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the summary says so", "COLLECTIVES" in said and "AllReduce of 2 ranks 0xfedc" in said, said)
    shown = this.run(case.MLRUN, "show", trace.folder, "collective", "--limit", "3").stdout
    this.true("rows can be shown", "AllReduce" in shown, shown)


def check_old(this, program):
    trace = this.trace(program, "old")
    described = [(row["operation"], row["bytes"], row["reduction"], row["communicator"], row["sequence"], row["rank"])
            for row in trace.rows("collective")]
    this.equal("what NCCL up to 2.24 tells", described, [("AllReduce", 512, "Avg", None, None, None),
                                                    ("AllGather", 99, None, None, None, None)])


def check(this):
    program = need_nvtx_program("collectives")
    trace = this.trace(program, "ranks", STEPS, SKEW_US)
    check_rows(this, trace)
    check_marks(this, trace)
    check_skew(this, trace)
    check_old(this, program)
    without = this.trace(program, "ranks", 2, 0, options=["--preload=files"])
    this.equal("marks that were not asked for", without.rows("mark"), [])


if __name__ == "__main__":
    case.run(check)
