# SPDX-License-Identifier: Apache-2.0
"""A process has the rank, local rank and number of ranks that its launcher put into its environment, in the documented
order of launchers; mpirun in a batch script is no rank, and a musl program is not reported as built for another
processor."""

import sys

from lib import case

CAT = "/bin/cat"
# Environment of a child; its rank, local rank and world size.
CHILDREN = [
    ({"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4"}, (3, 1, 4)),
    ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "8"}, (2, 0, 8)),
    ({"MV2_COMM_WORLD_RANK": "5", "MV2_COMM_WORLD_LOCAL_RANK": "1", "MV2_COMM_WORLD_SIZE": "6"}, (5, 1, 6)),
    ({"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1"}, (1, 1, 2)),
    ({"PMIX_RANK": "7", "SLURM_PROCID": "7", "SLURM_LOCALID": "3", "SLURM_NTASKS": "8"}, (7, 3, 8)),
    ({"SLURM_PROCID": "4", "SLURM_LOCALID": "0", "SLURM_NTASKS": "16", "SLURM_STEP_NUM_TASKS": "6"}, (4, 0, 6)),
    ({"FLUX_TASK_RANK": "1", "FLUX_TASK_LOCAL_ID": "1", "FLUX_JOB_SIZE": "2"}, (1, 1, 2)),
    ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "RANK": "6", "LOCAL_RANK": "2", "WORLD_SIZE": "8"}, (6, 2, 8)),
    ({"SLURM_PROCID": "0", "OMPI_COMM_WORLD_RANK": "9", "OMPI_COMM_WORLD_SIZE": "10"}, (9, None, 10)),
    ({"RANK": "first", "PMI_RANK": "1"}, (1, None, None)),
    ({"RANK": "99999999999", "SLURM_LOCALID": "2x"}, (None, None, None)),
    ({"RANKS": "1", "MY_RANK": "2"}, (None, None, None)),
]
PROGRAM = f"""
import os, subprocess, sys
for changes in {[environment for environment, _ in CHILDREN]!r}:
    subprocess.run(["{CAT}", "/etc/hostname"], env=os.environ | changes, stdout=subprocess.DEVNULL)
"""
BATCH = f"""
mpirun() {{ for r in 0 1; do OMPI_COMM_WORLD_RANK=$r {CAT} /etc/hostname; done; }}
(mpirun; true)
"""


def check(this):
    trace = this.trace(sys.executable, "-c", PROGRAM)
    rows = sorted((row for row in trace.rows("process") if row["command"].startswith(CAT)), key=lambda row: row["first"])
    ranks = [(row["rank"], row["local_rank"], row["world_size"]) for row in rows]
    this.equal("ranks", ranks, [wanted for _, wanted in CHILDREN])
    roles = [row["role"] for row in rows]
    this.equal("roles", roles, ["child" if rank is None else f"rank {rank}" for rank, _, _ in ranks])
    batch = this.trace("env", "SLURM_PROCID=0", "SLURM_NTASKS=2", "/bin/bash", "-c", BATCH, options=["--lossless"])
    roles = {row["command"].split(" ")[0]: [] for row in batch.rows("process")}
    for row in batch.rows("process"):
        roles[row["command"].split(" ")[0]].append(row["role"])
    this.equal("roles in a batch job", sorted(roles[CAT]), ["rank 0", "rank 1"], said=batch.rows("process"))
    this.true("the script starts them", "main" in sum(roles.values(), []), roles)


if __name__ == "__main__":
    case.run(check)
