# SPDX-License-Identifier: Apache-2.0
"""torchrun with --max-restarts on two nodes, as two agents on this machine, each under mlrun: one rank kills itself once, and all are started again. Both attempts
are in each trace; the killed rank is named, and the ranks of the longer attempt are compared. So says the summary of one trace, too."""

import sys
from concurrent.futures import ThreadPoolExecutor

from lib import attempts, case, training
from t857_the_rank_that_the_others_wait_for_is_the_slowest import free_port

LIMIT_S = 100  # an agent whose peer gave up waits five minutes for it
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
    """The two traces, or none where torchrun gave up: its restarts share a port, which a rank of the attempt before may still tell the next one."""
    port, out = free_port(), [this.path(f"run{number}-node{node}") for node in range(2)]
    environment = this.environment | {"OMP_NUM_THREADS": "1"}
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(this.run, *this.command(
            "timeout", str(LIMIT_S), sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1", "--max-restarts=2", "--rdzv-backend=c10d",
            f"--rdzv-endpoint=127.0.0.1:{port}", "--rdzv-id=again", "--monitor-interval=0.1", program, this.path(f"failed_once{number}"), out=path,
            options=["--python-stacks=off"]), timeout=300, env=environment) for path in out]
    for run in runs:
        if run.result().returncode != 0:
            print(run.result().stderr)
    return out if all(run.result().returncode == 0 for run in runs) else []


def recorded(this, program):
    """Ranks by trace. On a busy machine torchrun starts them a third time now and then."""
    for number in range(5):
        ranks = attempts.ranks_of(this, record(this, program, number))
        if [len(rows) for rows in ranks.values()] == [2, 2]:
            return ranks
    raise AssertionError(f"two attempts in each trace: {ranks}")


def check(this):
    training.need_torch()
    this.mlrun = case.MLRUN
    program = this.path("train.py")
    program.write_text(PROGRAM)
    attempts.check_attempts(this, recorded(this, program))


if __name__ == "__main__":
    case.run(check)
