# SPDX-License-Identifier: Apache-2.0
"""A folder with blanks and a per cent sign; options for sbatch that contradict ours, that Slurm does not know, or that name a partition that does
not exist; squeue's own variables; a chunk that still runs while another is submitted again; a task without a status that Slurm says is complete; an
array whose number was not written down. No run is made twice, and each failure is one line."""

import json

import slurm_kit
from kit import Sweep
from lib import case

PLAN = """repetitions = 2
workloads = ["sh -c 'test -e \\"{go}\\" || sleep 60; exit $(cat \\"{status}\\")'", "true"]
[parameters]
go = ["GO"]
status = ["STATUS"]
[[configuration]]
name = "dry"
dry = true
"""


class Odd(Sweep):
    def __init__(self, this):
        self.go, self.status = this.path("a go"), this.path("a status")
        self.status.write_text("0")
        super().__init__(this, PLAN.replace("GO", str(self.go)).replace("STATUS", str(self.status)), name="50%a of it")

    def sweep(self, *words, status=0, **more):
        done = self.this.run(case.MLRUN, "sweep", *words, **more)
        self.this.equal(f"exit status of sweep {words[0]}", done.returncode, status, said=done.stderr)
        return done.stderr

    def arrays(self):
        return {path: json.loads(path.read_text()) for path in sorted((self.out / "slurm").glob("mlrun-*.json"))}


def check(this):
    slurm_kit.need_slurm()
    with slurm_kit.Slurm(this, array_size=3) as slurm:  # arrays of two tasks
        odd = Odd(this)
        refused(this, odd)
        said = odd.sweep("--resume", odd.out, "--sbatch", "--cpus-per-task=1 --mem=1 --job-name=mine --requeue --output=/nowhere/%j --array=7")
        this.true("two arrays", "submitted 4 runs in 2 arrays" in said, said)
        slurm.wait("the short runs end", lambda: len(slurm.queue("-t", "RUNNING")) == 2 and len(slurm.queue()) == 2)
        while_one_runs(this, slurm, odd)
        odd.go.touch()
        slurm.wait("an empty queue", lambda: not slurm.queue(), 200)
        not_seen_yet(this, odd)
        said = odd.sweep("--collect", odd.out)
        this.true("all done", "4 of 4 runs done" in said, said)
        odd.expect_whole(4)
        logs = sorted(path.name for path in (odd.out / "slurm").glob("*.log"))
        this.equal("a log for each task", len(logs), 4, said=str(logs))
        this.equal("nothing left", odd.rows("SELECT count(*) FROM run WHERE attempt > 1"), [(0,)])


def refused(this, odd):
    said = odd.sweep("--slurm", odd.plan, "-o", odd.out, "--sbatch", "--partition=nope", status=125)
    lines = said.strip().splitlines()
    this.true("a partition that is not there", len(lines) == 1 and "invalid partition" in lines[0].lower() and "0 of 4 runs are submitted" in lines[0], said)
    said = odd.sweep("--resume", odd.out, "--sbatch", "--no-such-option", status=125)
    this.true("an option that is not there", "unrecognized option" in said and len(said.strip().splitlines()) == 1, said)
    said = odd.sweep("--resume", odd.out, "--sbatch", "-M other", status=125)
    this.true("another cluster", "SLURM_CLUSTERS" in said, said)
    this.equal("nothing is submitted", odd.arrays(), {})


def while_one_runs(this, slurm, odd):
    """Two tasks run; squeue's variables would hide them."""
    hidden = this.environment | {"SQUEUE_STATES": "PENDING", "SQUEUE_FORMAT": "%i", "SQUEUE_USERS": "nobody"}
    said = odd.sweep("--collect", odd.out, status=1, env=hidden)
    this.true("two run", "2 of 4 runs done, 2 waiting or running" in said, said)
    # mlrun was killed between sbatch and the note of the array's number.
    for path, array in odd.arrays().items():
        this.true("its number", array["job_id"].isdigit(), array["job_id"])
        path.write_text(json.dumps(array | {"job_id": ""}))
    said = odd.sweep("--resume", odd.out, env=hidden)
    this.true("nothing again", "submitted 0 runs in 0 arrays" in said, said)
    this.equal("in the queue", len(slurm.queue()), 2)


def not_seen_yet(this, odd):
    """As on a network file system that shows new files late. Done is known by the status alone, even without the array's number."""
    job = this.run("scontrol", "-o", "show", "job").stdout
    numbers = {word.split("=")[1]: line for line in job.splitlines() for word in line.split() if word.startswith("JobName=")}
    for path, array in odd.arrays().items():
        number = next(word.split("=")[1] for word in numbers[array["job_name"]].split() if word.startswith("ArrayJobId="))
        path.write_text(json.dumps(array | {"job_id": number}))
    late = [path for path in (odd.out / "slurm").glob("[0-9]*.json") if not odd.rows(
        f"SELECT 1 FROM run WHERE position = {path.name.split('.')[0]} AND state = 'done'")]
    this.equal("not collected", len(late), 2)
    for path in late:
        path.rename(path.with_suffix(".late"))
    said = odd.sweep("--resume", odd.out)
    this.true("complete is not lost", "submitted 0 runs in 0 arrays" in said, said)
    for path in late:
        path.with_suffix(".late").rename(path)


if __name__ == "__main__":
    case.run(check)
