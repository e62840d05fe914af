# SPDX-License-Identifier: Apache-2.0
"""Two nodes, each an agent under mlrun that starts its rank again after it failed, as torchrun's does: rank 1 kills itself in the first attempt, and rank 0 fails
with it. Both attempts are in each trace; the killed rank is named, and the ranks of the longer attempt are compared."""

import sys
from concurrent.futures import ThreadPoolExecutor

from lib import attempts, case, training
from t857_the_rank_that_the_others_wait_for_is_the_slowest import free_port

AGENT = """
import os, subprocess, sys
program, rank, *ports = sys.argv[1:]
for attempt, port in enumerate(ports):
    rendezvous = {"RANK": rank, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "TORCHELASTIC_RESTART_COUNT": str(attempt)}
    if subprocess.run([sys.executable, program], env=os.environ | rendezvous).returncode == 0:
        sys.exit(0)
sys.exit(1)
"""

RANK = """
import os, signal, time, torch, torch.distributed as dist
dist.init_process_group("gloo")
rank, value, is_first = dist.get_rank(), torch.ones(5000), os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
for step in range(6 if is_first else 20):
    time.sleep(0.2 if rank == 1 else 0.02)  # rank 1 is the slow one
    dist.all_reduce(value)
if is_first:
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(value)  # fails: the other rank is gone
dist.destroy_process_group()
"""


def check(this):
    training.need_torch()
    this.mlrun = case.MLRUN
    agent, program = this.path("agent.py"), this.path("train.py")
    agent.write_text(AGENT)
    program.write_text(RANK)
    ports, out = [free_port(), free_port()], [this.path(f"node{node}") for node in range(2)]
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(this.run, *this.command(sys.executable, agent, program, node, *ports, out=path, options=["--python-stacks=off"]),
                            timeout=300, env=this.environment | {"OMP_NUM_THREADS": "1"}) for node, path in enumerate(out)]
    for run in runs:
        this.equal("exit status", run.result().returncode, 0, said=run.result().stderr)
    attempts.check_attempts(this, attempts.ranks_of(this, out))


if __name__ == "__main__":
    case.run(check)
