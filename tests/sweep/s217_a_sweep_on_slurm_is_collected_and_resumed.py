# SPDX-License-Identifier: Apache-2.0
"""Scripts with the names of Slurm's programs run the tasks of an array: a run that fails, a task that never begins and one whose node was lost are
named by --collect, --resume submits these again and no other, and the options of the first submission are kept. A real Slurm: s401 to s403."""

from kit import Sweep
from lib import case

PLAN = """repetitions = 2
workloads = ["sh -c 'exit $(cat {status})'", "true"]
[parameters]
status = ["STATUS"]
[[configuration]]
name = "dry"
dry = true
"""
# The last word is the script. SKIPPED holds the indices of tasks that never begin.
SBATCH = """#!/bin/sh
printf '%s\\n' "$*" >> FOLDER/sbatch.words
for word; do case $word in --array=0-*) last=${word#--array=0-} ;; --job-name=*) name=${word#--job-name=} ;; esac; done
export SLURM_ARRAY_JOB_ID=$(($(wc -l < FOLDER/sbatch.words) + 100)) SLURMD_NODENAME=n1
for SLURM_ARRAY_TASK_ID in $(seq 0 "$last"); do
  export SLURM_ARRAY_TASK_ID
  grep -qx "$SLURM_ARRAY_TASK_ID" FOLDER/skipped || "$word" > /dev/null 2>&1
done
echo "$name" > FOLDER/name
echo "$SLURM_ARRAY_JOB_ID"
"""
SCONTROL = """#!/bin/sh
case "$*" in
"show config") printf 'MaxArraySize            = 1001\\n' ;;
*) echo "JobId=1 JobName=$(cat FOLDER/name) JobState=NODE_FAIL Reason=None" ;;
esac
"""


def make_slurm(this):
    programs = this.path("slurm")
    programs.mkdir()
    for name, text in (("sbatch", SBATCH), ("scontrol", SCONTROL), ("squeue", "#!/bin/sh\ncat FOLDER/queue\n")):
        (programs / name).write_text(text.replace("FOLDER", str(this.folder)))
        (programs / name).chmod(0o755)
    for name in ("queue", "skipped"):
        this.path(name).write_text("")
    this.environment["PATH"] = f"{programs}:{this.environment['PATH']}"


def mlrun(this, *words, status=0):
    done = this.run(case.MLRUN, "sweep", *words)
    this.equal(f"exit status of sweep {words[0]}", done.returncode, status, said=done.stderr)
    return done.stderr


def check(this):
    make_slurm(this)
    this.path("status").write_text("3")
    sweep = Sweep(this, PLAN.replace("STATUS", str(this.path("status"))))
    this.path("skipped").write_text("0\n")  # the run of position 1, whichever workload the seed has put there
    said = mlrun(this, "--slurm", sweep.plan, "-o", sweep.out, "--sbatch", "--partition=p")
    this.true("one array", "submitted 4 runs in 1 array" in said, said)
    failed = {position for (position,) in sweep.rows("SELECT position FROM run WHERE workload <> 'true'")} - {1}
    this.path("queue").write_text(f"{this.path('name').read_text().strip()} 0 PENDING\n")
    said = mlrun(this, "--collect", sweep.out, status=1)
    this.true("one waits", f"{3 - len(failed)} of 4 runs done, {len(failed)} failed, 1 waiting or running" in said, said)
    this.path("queue").write_text("")
    said = mlrun(this, "--collect", sweep.out, status=1)
    this.true("it is lost", "has no status: it was cancelled before it began, or mlrun did not start; Slurm: NODE_FAIL" in said, said)
    this.equal("what is not done", {position for (position,) in sweep.rows("SELECT position FROM run WHERE state = 'failed'")}, failed | {1})
    this.equal("exit statuses", set(sweep.rows("SELECT exit_status FROM run WHERE state = 'failed' AND NOT interrupted")), {(3,)})
    this.equal("node", {value for (value,) in sweep.rows("SELECT value FROM fact WHERE name = 'node'")}, {"n1"})
    done = sweep.rows("SELECT position, started_realtime_ns FROM run WHERE state = 'done' ORDER BY position")
    this.path("status").write_text("0")
    this.path("skipped").write_text("")
    said = mlrun(this, "--resume", sweep.out)
    this.true("only these again", f"submitted {len(failed) + 1} runs in 1 array" in said, said)
    mlrun(this, "--collect", sweep.out)
    this.equal("each run is done once", sweep.rows("SELECT count(*) FROM run WHERE state = 'done' GROUP BY workload, block"), [(1,)] * 4)
    this.equal("no other was made again", sweep.rows("SELECT position, started_realtime_ns FROM run WHERE state = 'done' AND attempt = 1 ORDER BY position"), done)
    asked = this.path("sbatch.words").read_text().splitlines()
    this.equal("options of both arrays", [line.split()[0] for line in asked], ["--partition=p", "--partition=p"])
    said = mlrun(this, "--resume", sweep.out)
    this.true("nothing left", "submitted 0 runs in 0 arrays" in said, said)


if __name__ == "__main__":
    case.run(check)
