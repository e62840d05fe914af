# SPDX-License-Identifier: Apache-2.0
"""A real Slurm whose administrator limits arrays (max_array_tasks), requeues a task that runs, sets the partition down, and restarts the controller;
the user lets one task of an array run at once. Each run is made once, and counts as waiting until it has ended."""

import slurm_kit
from kit import Sweep
from lib import case

PLAN = """repetitions = 4
workloads = ["sh -c 'echo begun >> {begun}; until test -e {go}; do sleep 0.2; done'"]
[parameters]
begun = ["BEGUN"]
go = ["GO"]
[[configuration]]
name = "dry"
dry = true
"""


class Administered(Sweep):
    def __init__(self, this, name):
        self.go, self.begun = this.path(f"{name}.go"), this.path(f"{name}.begun")
        super().__init__(this, PLAN.replace("BEGUN", str(self.begun)).replace("GO", str(self.go)), name=name)

    def sweep(self, *words, status=0):
        done = self.this.run(case.MLRUN, "sweep", *words)
        self.this.equal(f"exit status of sweep {words[0]}", done.returncode, status, said=done.stderr)
        return done.stderr

    def beginnings(self):
        return len(self.begun.read_text().split()) if self.begun.exists() else 0


def check(this):
    slurm_kit.need_slurm()
    with slurm_kit.Slurm(this, more="SchedulerParameters=defer,max_array_tasks=3\nMessageTimeout=5") as slurm:
        throttled(this, slurm)
        requeued(this, slurm)
        partition_down(this, slurm)
        controller_down(this, slurm)
    done = this.run(case.MLRUN, "sweep", "--collect", this.path("requeued"))
    this.true("without Slurm", done.returncode == 125 and "squeue of Slurm failed" in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def throttled(this, slurm):
    sweep = Administered(this, "throttled")
    said = sweep.sweep("--slurm", sweep.plan, "-o", sweep.out, "--sbatch", "--cpus-per-task=1 --mem=1 --array=0-99%1")
    this.true("arrays of three", "submitted 4 runs in 2 arrays" in said, said)
    slurm.wait("one of each array runs", lambda: len(slurm.queue("-t", "RUNNING")) == 2)
    limits = [word for line in slurm.said("scontrol", "-o", "show", "job").splitlines() for word in line.split() if word.startswith("ArrayTaskThrottle=")]
    this.true("the user's limit", "ArrayTaskThrottle=1" in limits, limits)
    this.equal("and no more", len(slurm.queue("-t", "RUNNING")), 2)
    sweep.go.touch()
    slurm.wait("an empty queue", lambda: not slurm.queue(), 200)
    this.true("all done", "4 of 4 runs done" in sweep.sweep("--collect", sweep.out), "")


def requeued(this, slurm):
    sweep = Administered(this, "requeued")
    sweep.sweep("--slurm", sweep.plan, "-o", sweep.out, "--sbatch", "--cpus-per-task=1 --mem=1 --requeue")
    slurm.wait("four run", lambda: len(slurm.queue("-t", "RUNNING")) == 4 and sweep.beginnings() == 4)
    [task, *_] = [line.split()[0] for line in slurm.queue("-t", "RUNNING", "-o", "%A %F_%K")]
    refused = this.run("scontrol", "requeue", task)
    this.true("Slurm requeues none by itself", refused.returncode != 0, refused.stderr)
    slurm.said("scontrol", "update", f"JobId={task}", "Requeue=1")
    slurm.said("scontrol", "requeue", task)
    slurm.wait("it waits again", lambda: len(slurm.queue("-t", "RUNNING")) == 3 and len(slurm.queue("-t", "PENDING")) == 1)
    said = sweep.sweep("--collect", sweep.out, status=1)
    this.true("it counts as waiting", "0 of 4 runs done, 4 waiting or running" in said, said)
    said = sweep.sweep("--resume", sweep.out)
    this.true("and is not made twice", "submitted 0 runs in 0 arrays" in said, said)
    sweep.go.touch()
    slurm.said("scontrol", "update", f"JobId={task}", "StartTime=now")
    slurm.wait("an empty queue", lambda: not slurm.queue(), 200)
    said = sweep.sweep("--collect", sweep.out)
    this.true("all done", "4 of 4 runs done" in said, said)
    this.equal("one was begun twice", sweep.beginnings(), 5)
    this.equal("one attempt each", sweep.rows("SELECT count(*), max(attempt) FROM run"), [(4, 1)])


def partition_down(this, slurm):
    slurm.said("scontrol", "update", "PartitionName=p", "State=DOWN")
    sweep = Administered(this, "down")
    sweep.go.touch()
    said = sweep.sweep("--slurm", sweep.plan, "-o", sweep.out, "--sbatch", "--cpus-per-task=1 --mem=1")
    this.true("submitted", "submitted 4 runs in 2 arrays" in said, said)
    said = sweep.sweep("--collect", sweep.out, status=1)
    this.true("they wait", "0 of 4 runs done, 4 waiting or running" in said, said)
    this.true("not again", "submitted 0 runs" in sweep.sweep("--resume", sweep.out), "")
    slurm.said("scontrol", "update", "PartitionName=p", "State=UP")
    slurm.wait("an empty queue", lambda: not slurm.queue(), 200)
    this.true("done", "4 of 4 runs done" in sweep.sweep("--collect", sweep.out), "")
    this.equal("once", sweep.beginnings(), 4)


def controller_down(this, slurm):
    slurm.stop_controller()
    done = this.run(case.MLRUN, "sweep", "--slurm", Administered(this, "refused").plan, "-o", this.path("refused"), timeout=300)
    this.true("sbatch cannot reach it", done.returncode == 125 and "0 of 4 runs are submitted" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    done = this.run(case.MLRUN, "sweep", "--collect", this.path("down"), timeout=300)
    this.true("nor squeue", done.returncode == 125 and "squeue of Slurm failed" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    slurm.start_controller()
    said = this.run(case.MLRUN, "sweep", "--resume", this.path("refused"))
    this.true("later it can", said.returncode == 0 and "submitted 4 runs" in said.stderr, said.stderr)


if __name__ == "__main__":
    case.run(check)
