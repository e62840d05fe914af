# SPDX-License-Identifier: Apache-2.0
"""12 runs as arrays of a real Slurm of two nodes: one node dies, a task is cancelled, one fails by itself; --collect says so, --resume makes
these again and no other, also where Slurm uses the numbers of jobs again; exit statuses are kept."""

import json
import time

import slurm_kit
from kit import Sweep
from lib import case

PLAN = """repetitions = 6
workloads = ["sh -c 'test -e {go} || sleep 30; exit $(cat {status})'"]
[parameters]
go = ["GO"]
status = ["STATUS"]
[[configuration]]
name = "dry"
dry = true
[[configuration]]
name = "traced"
options = ["--preload=files", "--sample=off", "--python-stacks=off"]
"""


class Cluster(Sweep):
    def __init__(self, this):
        self.go, self.status = this.path("go"), this.path("status")
        self.status.write_text("0")
        super().__init__(this, PLAN.replace("GO", str(self.go)).replace("STATUS", str(self.status)))

    def mlrun(self, *words, status):
        done = self.this.run(case.MLRUN, "sweep", *words)
        self.this.equal(f"exit status of sweep {words[0]}", done.returncode, status, said=done.stderr)
        return done.stderr

    def collect(self, status=1):
        return self.mlrun("--collect", self.out, status=status)

    def states(self):
        """{(configuration, block): [(attempt, state, exit status, interrupted)]}"""
        found = {}
        for configuration, block, *row in self.rows("SELECT configuration, block, attempt, state, exit_status, interrupted FROM run "
                                                    "ORDER BY configuration, block, attempt"):
            found.setdefault((configuration, block), []).append(tuple(row))
        return found

    def node_of(self, position, attempt=1):
        path = self.out / "slurm" / f"{position}.{attempt}.json"
        return json.loads(path.read_text())["node"] if path.exists() else None


def check(this):
    slurm_kit.need_slurm()
    # Arrays of at most 5 tasks; and five job numbers in all, which are soon used again.
    with slurm_kit.Slurm(this, array_size=6, jobs=(1000, 1040)) as slurm:
        cluster = Cluster(this)
        said = cluster.mlrun("--slurm", cluster.plan, "-o", cluster.out, "--sbatch", "--cpus-per-task=1 --mem=1", status=0)
        this.true("three arrays", "submitted 12 runs in 3 arrays" in said, said)
        slurm.wait("four tasks run", lambda: len(slurm.queue("-t", "RUNNING")) == 4)
        slurm.wait("their status", lambda: len(list((cluster.out / "slurm").glob("*.1.json"))) >= 4)
        said = cluster.collect()
        this.true("all open", "0 of 12 runs done, 12 waiting or running" in said, said)
        lost, cancelled = lose_and_cancel(this, slurm, cluster)
        cluster.go.touch()
        slurm.wait("an empty queue", lambda: not slurm.queue(), 300)
        said = cluster.collect()
        this.true("what is done", f"{11 - len(lost)} of 12 runs done, {len(lost) + 1} failed" in said, said)
        check_lost(this, cluster, lost, cancelled)
        before = cluster.rows("SELECT configuration, block, started_realtime_ns FROM run WHERE state = 'done' ORDER BY 1, 2")
        said = cluster.mlrun("--resume", cluster.out, status=0)
        this.true("only these again", f"submitted {len(lost) + 1} runs in 1 array" in said, said)
        slurm.wait("an empty queue", lambda: not slurm.queue(), 300)
        cluster.collect(status=0)
        cluster.expect_whole(12)
        after = cluster.rows("SELECT configuration, block, started_realtime_ns FROM run WHERE state = 'done' AND attempt = 1 ORDER BY 1, 2")
        this.equal("no other was made again", after, before)
        again = cluster.mlrun("--resume", cluster.out, status=0)
        this.true("nothing left", "submitted 0 runs in 0 arrays" in again, again)
        own_failures(this, slurm)


def lose_and_cancel(this, slurm, cluster):
    """The positions of the runs on the node that dies, and of the one that is cancelled on the other."""
    running = {position: cluster.node_of(position) for position in range(1, 13) if cluster.node_of(position)}
    lost = sorted(position for position, node in running.items() if node == "n1")
    [cancelled, *_] = sorted(position for position, node in running.items() if node == "n2")
    this.true("runs on both nodes", len(lost) == 2, running)
    status = json.loads((cluster.out / "slurm" / f"{cancelled}.1.json").read_text())
    slurm.said("scancel", status["facts"]["slurm_job"])
    slurm.kill_node("n1")
    slurm.wait("the node is down", lambda: any(state.startswith("down") for state in slurm.said("sinfo", "-h", "-N", "-o", "%t").split()))
    time.sleep(1)
    slurm.start_node("n1")
    return lost, cancelled


def check_lost(this, cluster, lost, cancelled):
    for position, state, status, interrupted, failure in cluster.rows(
            "SELECT position, state, exit_status, interrupted, failure FROM run WHERE attempt = 1"):
        if position in lost:
            this.equal("a lost run", (state, status, interrupted), ("failed", None, 1), said=failure)
            this.true("why", "ended without writing its status: its node was lost, or it was killed" in failure, failure)
        elif position == cancelled:
            this.equal("a cancelled run", (state, interrupted), ("failed", 1), said=failure)
            this.true("why", "ended by Slurm with signal 15" in failure, failure)
        else:
            this.equal("any other run", (state, status), ("done", 0), said=failure)


def own_failures(this, slurm):
    """Runs that fail by themselves keep their exit status, and end no other."""
    cluster = Cluster.__new__(Cluster)
    cluster.go, cluster.status = this.path("go"), this.path("status")
    cluster.status.write_text("0")
    plan = 'repetitions = 1\nworkloads = ["sh -c \'exit 3\'", "true", "sh -c \'kill -9 $$\'"]\n[[configuration]]\nname = "dry"\ndry = true\n'
    Sweep.__init__(cluster, this, plan, name="second")
    cluster.mlrun("--slurm", cluster.plan, "-o", cluster.out, status=0)
    slurm.wait("an empty queue", lambda: not slurm.queue(), 120)
    said = cluster.collect()
    this.true("how they ended", "1 of 3 runs done, 2 failed" in said, said)
    statuses = sorted(status for (status,) in cluster.rows("SELECT exit_status FROM run"))
    this.equal("exit statuses", statuses, [0, 3, 137])
    ids = [json.loads(path.read_text())["job_id"] for out in (this.path("out"), this.path("second"))
           for path in (out / "slurm").glob("mlrun-*.json")]
    this.true("each array has its number", all(ids), ids)


if __name__ == "__main__":
    case.run(check)
