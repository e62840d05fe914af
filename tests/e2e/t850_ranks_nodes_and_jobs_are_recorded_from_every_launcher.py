# SPDX-License-Identifier: Apache-2.0
"""Rank, local rank, launcher, node and job, from the variables of every launcher: of mlrun below a
launcher in run.json, of ranks below mlrun in the table `process`."""

from lib import case

LAUNCHERS = {
    "slurm": ({"SLURM_PROCID": "5", "SLURM_LOCALID": "1", "SLURM_NTASKS": "8", "SLURM_NODEID": "2", "SLURM_JOB_NUM_NODES": "4",
               "SLURM_JOB_ID": "4711", "SLURM_STEP_ID": "0", "SLURM_ARRAY_JOB_ID": "4700", "SLURM_ARRAY_TASK_ID": "11"},
              {"id": "4711", "array_id": "4700", "array_task": "11", "step": "0", "nodes": 4, "node": 2}),
    "torch": ({"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "GROUP_RANK": "2", "TORCHELASTIC_RUN_ID": "run-7"},
              {"id": "run-7", "node": 2}),
    "openmpi": ({"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_SIZE": "8",
                 "PMIX_NAMESPACE": "prterun-n1-99@1"}, {"id": "prterun-n1-99@1"}),
    "mvapich": ({"MV2_COMM_WORLD_RANK": "5", "MV2_COMM_WORLD_LOCAL_RANK": "1", "MV2_COMM_WORLD_SIZE": "8", "PBS_JOBID": "12.head"},
                {"id": "12.head"}),
    "pals": ({"PALS_RANKID": "5", "PALS_LOCAL_RANKID": "1", "PALS_SIZE": "8"}, {}),
    "jsm": ({"JSM_NAMESPACE_RANK": "5", "JSM_NAMESPACE_LOCAL_RANK": "1", "JSM_NAMESPACE_SIZE": "8", "LSB_JOBID": "7"}, {"id": "7"}),
    "flux": ({"FLUX_TASK_RANK": "5", "FLUX_TASK_LOCAL_ID": "1", "FLUX_JOB_SIZE": "8"}, {}),
    "pmi": ({"PMI_RANK": "5", "MPI_LOCALRANKID": "1", "PMI_SIZE": "8"}, {}),
    "pmix": ({"PMIX_RANK": "5", "PMIX_LOCAL_RANK": "1", "PMIX_SIZE": "8"}, {}),
}
OF_ALL = {"rank": 5, "local_rank": 1, "world_size": 8}


def job_of(trace):
    return {key: value for key, value in trace.run["job"].items() if key != "source"}


def check(this):
    clean = {key: value for key, value in this.environment.items() if not key.startswith(("SLURM", "OMPI", "PMI", "RANK", "MV2", "PALS", "JSM", "FLUX", "PBS", "LSB"))}
    for launcher, (variables, job) in LAUNCHERS.items():
        trace = this.trace("true", env=clean | variables)
        this.equal(f"job of {launcher}", job_of(trace), OF_ALL | job)
        rank_of = trace.run["job"]["source"]["rank"]
        this.true(f"the variable of {launcher}", rank_of in variables, rank_of)
        [process] = trace.rows("process")
        this.equal(f"process of {launcher}", {key: process[key] for key in [*OF_ALL, "launcher"]},
                   OF_ALL | {"launcher": launcher})

    # Below mlrun: only the ranks have the variables.
    script = " & ".join(f"RANK={rank} LOCAL_RANK={rank} WORLD_SIZE=2 sleep 0.1" for rank in range(2)) + " & wait"
    trace = this.trace("sh", "-c", script, env=clean)
    this.equal("no job", job_of(trace), {})
    ranks = sorted((row["rank"], row["local_rank"], row["launcher"]) for row in trace.rows("process") if row["rank"] is not None)
    this.equal("ranks below mlrun", ranks, [(0, 0, "torch"), (1, 1, "torch")])
    wrong = this.trace("true", env=clean | {"SLURM_PROCID": "x", "SLURM_NODEID": "-1", "SLURM_JOB_ID": ""})
    this.equal("variables that are no numbers", job_of(wrong), {})


if __name__ == "__main__":
    case.run(check)
