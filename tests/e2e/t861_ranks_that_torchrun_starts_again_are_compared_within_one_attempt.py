# SPDX-License-Identifier: Apache-2.0
"""torchrun with --max-restarts on two nodes, as two agents on this machine, each under mlrun: one rank kills itself once, and all are started again. Both attempts
are in each trace; the killed rank is named, and the ranks of the longer attempt are compared. So says the summary of one trace, too."""

import sys
from concurrent.futures import ThreadPoolExecutor

from lib import case, nodes, training
from t857_the_rank_that_the_others_wait_for_is_the_slowest import free_port

PROGRAM = """
import os, signal, sys, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
rank, value = dist.get_rank(), torch.ones(5000)
is_first = not os.path.exists(sys.argv[1])
for step in range(6 if is_first else 20):
    time.sleep(0.2 if rank == 1 else 0.02)  # rank 1 is the slow one
    dist.all_reduce(value)
if is_first:
    dist.barrier()
    if rank == 1:
        open(sys.argv[1], "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)
dist.destroy_process_group()
"""


def record(this, program, number):
    port, out = free_port(), [this.path(f"run{number}-node{node}") for node in range(2)]
    environment = this.environment | {"OMP_NUM_THREADS": "1"}
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(this.run, *this.command(
            sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1", "--max-restarts=2", "--rdzv-backend=c10d",
            f"--rdzv-endpoint=127.0.0.1:{port}", "--rdzv-id=again", "--monitor-interval=0.1", program, this.path(f"failed_once{number}"), out=path,
            options=["--python-stacks=off"]), timeout=300, env=environment) for path in out]
        for run in runs:
            this.equal("exit status", run.result().returncode, 0, said=run.result().stderr)
    return out


def recorded(this, program):
    """Ranks by trace. On a busy machine torchrun starts them a third time now and then."""
    for number in range(5):
        ranks = {trace: [row for row in this.opened(trace).rows("process") if row["role"].startswith("rank ")] for trace in record(this, program, number)}
        if [len(rows) for rows in ranks.values()] == [2, 2]:
            return ranks
    raise AssertionError(f"two attempts in each trace: {ranks}")


def check(this):
    training.need_torch()
    this.mlrun = case.MLRUN
    program = this.path("train.py")
    program.write_text(PROGRAM)
    ranks = recorded(this, program)
    traces, out = list(ranks), this.path("merged")
    done = nodes.merge(this, *traces, out=out)
    merged = nodes.merged(out)
    print(done.stderr)
    this.equal("both are merged", len(merged["nodes"]), 2, said=done.stderr)
    this.equal("a row for each attempt", sorted((row["rank"], row["attempt"]) for row in merged["ranks"]), [(0, 1), (0, 2), (1, 1), (1, 2)])
    said = " ".join(done.stderr.split())
    this.true("the killed rank is named", "rank 1 on " in said and "was ended by signal 9 (Killed) after" in said and "and was started again" in said, said)
    this.true("what is compared", "were started 2 times; those of attempt 2 are compared, which ran longest" in said, said)
    this.true("no rank is missing", "in no trace" not in said, said)
    this.true("2 ranks", "2 nodes" in said and "2 ranks" in said, said)
    slowest = merged["slowest_rank"] or {}
    this.equal("the slow rank", (slowest.get("rank"), slowest.get("known_by")), (1, "messages"), said=said)
    waited = {row["attempt"]: row["waited_ns"] for row in merged["ranks"] if row["rank"] == 0}
    # Six steps are few: in some runs what the first attempt waited for is not told from its end.
    this.true("each attempt has its own time", waited[2] > 1.5 * waited[1] and waited[2] > 1_500_000_000, waited)
    this.true("the list says which", "rank 0 #1 on " in said and "rank 0 #2 on " in said, said)
    for trace, rows in ranks.items():
        one_trace(this, trace, rows)


def one_trace(this, trace, rows):
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


if __name__ == "__main__":
    case.run(check)
