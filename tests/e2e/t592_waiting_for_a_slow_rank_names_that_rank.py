# SPDX-License-Identifier: Apache-2.0
"""Two ranks that one process spawned, and that set RANK themselves, add up gradients over gloo, and the second is slow: the first one's waiting is
attributed to the other rank, through gloo's threads and both ends of the connection. The process that spawned them and its helper are not
ranks."""

import json
import sys

from lib import case, training

RANKS = case.SOURCE / "tests" / "workloads" / "slow" / "ranks.py"


def check(this):
    training.need_torch()
    out = this.new_trace()
    done = this.run(case.MLRUN, "-o", out, sys.executable, RANKS, "--spawn", "--seconds", 3)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    report = json.loads(this.run(case.MLRUN, "report", out, "--json").stdout)
    driver = report["driver"]
    processes = [json.loads(line) for line in this.run(case.MLRUN, "show", out, "process", "--json").stdout.splitlines()]
    ranks = {row["role"]: row for row in processes if row["role"].startswith("rank")}
    this.equal("ranks", sorted(ranks), ["rank 0", "rank 1"], said=[row["role"] for row in processes])
    this.equal("of how many", [row["world_size"] for row in ranks.values()], [2, 2])
    this.equal("the first one drives", driver["pid"], ranks["rank 0"]["pid"])
    this.true("the first rank waited", driver["waiting_ns"] > 0, driver)
    this.true("waiting is followed", driver["not_followed_ns"] <= 0.05 * driver["waiting_ns"], driver)
    rows = this.run(case.MLRUN, "show", out, "blame", "--where", "activity = wait", "--columns", "cause,ns", "--json").stdout.splitlines()
    times = [(row["cause"], row["ns"]) for row in map(json.loads, rows)]
    # On processors that other tests take, most of the rest is handing over.
    skew = sum(ns for cause, ns in times if cause == "rank_skew")
    this.true("it is for the other rank", skew > 0.25 * sum(ns for _, ns in times), times[:20])
    for finding in report["findings"]:
        if finding["cause"] == "rank_skew":
            this.true("the other rank is named", "rank 1 (" in finding["claim"], finding)


if __name__ == "__main__":
    case.run(check)
