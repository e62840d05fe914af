# SPDX-License-Identifier: Apache-2.0
"""Two nodes whose ranks were started twice: what a merge of their traces, and the report of one, say about it."""

from lib import case, nodes


def ranks_of(this, traces):
    """The processes with a rank, by trace."""
    return {trace: [row for row in this.opened(trace).rows("process") if row["role"].startswith("rank ")] for trace in traces}


def check_attempts(this, ranks):
    """Rank 1 is the slow one, and killed itself in the first attempt, which is shorter."""
    traces, out = list(ranks), this.path("merged")
    done = nodes.merge(this, *traces, out=out)
    merged = nodes.merged(out)
    print(done.stderr)
    this.equal("both are merged", len(merged["nodes"]), 2, said=done.stderr)
    this.equal("a row for each attempt", sorted((row["rank"], row["attempt"]) for row in merged["ranks"]), [(0, 1), (0, 2), (1, 1), (1, 2)])
    said = " ".join(done.stderr.split())
    this.true("the killed rank is named", "rank 1 on " in said and "was ended by signal 9 (Killed) after" in said and "and was started again" in said, said)
    this.true("what is compared", "were started 2 times; the ranks of attempt 2 are compared, which ran longest" in said, said)
    this.true("no rank is missing", "in no trace" not in said, said)
    this.true("2 ranks", "2 nodes" in said and "2 ranks" in said, said)
    slowest = merged["slowest_rank"] or {}
    this.equal("the slow rank", (slowest.get("rank"), slowest.get("known_by")), (1, "messages"), said=said)
    waited = {row["attempt"]: row["waited_ns"] for row in merged["ranks"] if row["rank"] == 0}
    # Six steps are few: in some runs what the first attempt waited for is not told from its end.
    this.true("each attempt has its own time", waited[2] > 1.5 * waited[1] and waited[2] > 1_500_000_000, waited)
    lived = {row["proc_id"]: row["last"] - row["first"] for row in this.opened(out).rows("process")}
    this.equal("what is divided is the time of each rank's process", [row["wall_ns"] for row in merged["ranks"]], [lived[row["proc_id"]] for row in merged["ranks"]])
    this.true("the list says which", "rank 0 #1 on " in said and "rank 0 #2 on " in said, said)
    for trace, rows in ranks.items():
        check_one_trace(this, trace, rows)


def check_one_trace(this, trace, rows):
    """The one that ran longest drives the run."""
    longest = max(rows, key=lambda row: row["last"] - row["first"])
    report = this.run(case.MLRUN, "report", trace, env=this.environment | {"COLUMNS": "160"})
    this.equal("report", report.returncode, 0, said=report.stderr)
    ranks = {row["rank"] for row in rows}
    if len(ranks) == 1:
        this.true("whose time it is", f"of rank {ranks.pop()} ({longest['pid']}, one of 2)" in report.stdout, report.stdout)
    else:  # torchrun gave the node another rank
        lowest = min(rows, key=lambda row: row["rank"])
        this.true("whose time it is", f"of rank {lowest['rank']} ({lowest['pid']})" in report.stdout, report.stdout)
