# SPDX-License-Identifier: Apache-2.0
"""Two ranks add up gradients over gloo, without marks, and the second computes longer. It is the slowest rank of the merged trace: by the sockets
over which the first one's waits ended, where each rank has a trace of its own; by the process at their end, where one trace has both."""

import json
import re
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

from lib import case, nodes, training

RANKS = case.SOURCE / "tests" / "workloads" / "slow" / "ranks.py"
SECONDS = 3


def apart(this):
    """A trace for each rank."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    out = [this.path(f"rank{rank}") for rank in range(2)]
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(this.run, *this.command(sys.executable, RANKS, "--seconds", SECONDS, out=out[rank]),
                            env=this.environment | {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)})
                for rank in range(2)]
        for run in runs:
            this.equal("exit status", run.result().returncode, 0, said=run.result().stderr)
    return out


def check_alone(this, trace):
    """What the trace of the first rank says without that of the second."""
    report = json.loads(this.run(case.MLRUN, "report", trace, "--json").stdout)
    finding = report["findings"][0]
    this.equal("its first finding", (finding["cause"], finding["also"]), ("rank_skew", ["data_remote"]), said=report["findings"])
    this.true("it names no other rank", "other machines, which have ranks of this run" in finding["claim"], finding)


def together(this):
    return [this.trace(sys.executable, RANKS, "--spawn", "--seconds", SECONDS).folder]


def check(this):
    training.need_torch()
    this.mlrun = case.MLRUN
    alone = apart(this)
    check_alone(this, alone[0])
    for number, traces in enumerate((alone, together(this))):
        out = this.path(f"merged{number}")
        done = nodes.merge(this, *traces, out=out)
        merged = nodes.merged(out)
        slowest, ranks = merged["slowest_rank"], {row["rank"]: row for row in merged["ranks"]}
        this.equal("the slowest rank", (slowest or {}).get("rank"), 1, said=done.stderr)
        this.equal("known by", slowest["known_by"], "messages")
        this.true("who waited", ranks[0]["waited_ns"] > 2 * ranks[1]["waited_ns"], ranks)
        said = " ".join(done.stderr.split())
        this.true("the summary says so", re.search(r"SLOWEST rank 1 on .* \(by messages\): it waited .* for others, they up to", said), said)


if __name__ == "__main__":
    case.run(check)
