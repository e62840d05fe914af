# SPDX-License-Identifier: Apache-2.0
"""Two ranks add up gradients over gloo, without marks, and the second is late. It is the slowest rank of the merged trace: by the sockets
over which the first one's waits ended, where each rank has a trace of its own; by the process at their end, where one trace has both. The first
rank's trace alone says that it waited for another machine with ranks of the run."""

import json
import re
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

from lib import case, nodes, training

PROGRAM = """
import os, sys, time, torch, torch.distributed as dist, torch.multiprocessing as mp

def train(rank, port):
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    dist.init_process_group("gloo")
    value = torch.ones(5000)
    for step in range(14):
        time.sleep(0.25 if rank == 1 else 0.02)
        dist.all_reduce(value)
    dist.destroy_process_group()

if __name__ == "__main__":
    if sys.argv[1] == "both":
        mp.spawn(train, (sys.argv[2],), nprocs=2)
    else:
        train(int(sys.argv[1]), sys.argv[2])
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return str(free.getsockname()[1])


def apart(this, program):
    """A trace for each rank."""
    port, out = free_port(), [this.path(f"rank{rank}") for rank in range(2)]
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(this.run, *this.command(sys.executable, program, rank, port, out=out[rank], options=["--python-stacks=off"]),
                            timeout=300, env=this.environment | {"RANK": str(rank), "WORLD_SIZE": "2"}) for rank in range(2)]
        for run in runs:
            this.equal("exit status", run.result().returncode, 0, said=run.result().stderr)
    return out


def check_alone(this, trace):
    rows = [row for row in this.opened(trace).rows("blame") if row["activity"] == "wait"]
    remote = [row for row in rows if row["state"] == "remote"]
    this.true("it waited for another machine", sum(row["ns"] for row in remote) > 0.5 * sum(row["ns"] for row in rows) > 0, rows[:5])
    for_rank = [row for row in remote if row["cause"] == "rank_skew" and row["file_id"]]
    this.true("for a rank there", sum(row["ns"] for row in for_rank) > 0.9 * sum(row["ns"] for row in remote), remote[:5])
    report = json.loads(this.run(case.MLRUN, "report", trace, "--json").stdout)
    [finding] = [one for one in report["findings"] if one["cause"] == "rank_skew"]
    this.equal("what looks the same", finding["also"], ["data_remote"])
    this.true("it names no rank", "other machines, which have ranks of this run" in finding["claim"], finding)


def check(this):
    training.need_torch()
    this.mlrun = case.MLRUN
    program = this.path("train.py")
    program.write_text(PROGRAM)
    alone = apart(this, program)
    check_alone(this, alone[0])
    both = this.trace(sys.executable, program, "both", free_port(), options=["--python-stacks=off"], timeout=300).folder
    for number, traces in enumerate((alone, [both])):
        out = this.path(f"merged{number}")
        done = nodes.merge(this, *traces, out=out)
        merged = nodes.merged(out)
        slowest, ranks = merged["slowest_rank"] or {}, {row["rank"]: row for row in merged["ranks"]}
        this.equal("the slowest rank", (slowest.get("rank"), slowest.get("known_by")), (1, "messages"), said=done.stderr)
        this.true("who waited", ranks[0]["waited_ns"] > ranks[1]["waited_ns"], ranks)
        said = " ".join(done.stderr.split())
        this.true("the summary says so", re.search(r"SLOWEST rank 1 on .* \(by messages\): it waited .* for other ranks, the others waited up to", said), said)


if __name__ == "__main__":
    case.run(check)
