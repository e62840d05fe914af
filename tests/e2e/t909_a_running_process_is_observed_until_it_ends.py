# SPDX-License-Identifier: Apache-2.0
"""--pid: the trace has a shell that runs already, its children and its waits, and ends with it; --duration, Ctrl-C and
a hang-up end the trace as well, and it is complete."""

import signal
import subprocess

from lib import case
from lib.kernel_side import need_kernel_side, wait_until_observing


def observe(this, out, *options):
    said = open(this.path(f"{out.name}.said"), "w+", encoding="utf-8")
    mlrun = subprocess.Popen([case.MLRUN, "--kprobes=block,wait", "-o", out, *options], stderr=said, cwd=this.folder,
                             env=this.environment)
    wait_until_observing(mlrun, this.path(f"{out.name}.said"))
    return mlrun


def check(this):
    need_kernel_side()
    go = this.path("go")
    with subprocess.Popen(["sh", "-c", f"until [ -e {go} ]; do sleep 0.05; done; sh -c 'sleep 0.5; exit 0'"]) as shell:
        out = this.new_trace()
        mlrun = observe(this, out, "--pid", str(shell.pid))
        go.touch()
        this.equal("exit status", mlrun.wait(60), 0)
    trace = this.opened(out)
    processes = {row["pid"]: row for row in trace.rows("process")}
    this.true("the shell has a row", shell.pid in processes, processes)
    children = [row for row in processes.values() if row["parent_proc_id"] == processes[shell.pid]["proc_id"]]
    named = any("sleep 0.5" in row["command"] for row in children)
    this.true("and its child, by name if somebody could look in time",
              children and (named or trace.covers("arguments of processes")), processes)
    this.true("its waits are there", any(row["pid"] == shell.pid for row in trace.rows("wait")))
    this.true("what is not seen is said", trace.covers("C library"), trace.rows("coverage"))
    # Some kernels leave out a completion now and then.
    lost = [row for row in trace.rows("loss") if row["reason"] != "its completion was not seen"]
    this.equal("nothing lost", lost, [])

    with subprocess.Popen(["sleep", "60"]) as sleeper:
        out = this.new_trace()
        this.equal("exit status with --duration", observe(this, out, "--pid", str(sleeper.pid), "--duration", "1").wait(60), 0)
        this.true("its row", any(row["pid"] == sleeper.pid for row in this.opened(out).rows("process")))
        for end in (signal.SIGINT, signal.SIGHUP):  # after a hang-up no terminal could end it
            out = this.new_trace()
            mlrun = observe(this, out, "--pid", str(sleeper.pid))
            mlrun.send_signal(end)
            this.equal(f"exit status after {end.name}", mlrun.wait(60), 0)
            this.true("the trace is made", (out / "run.json").exists() and not (out / "session.json").exists())
        this.equal("the process goes on", sleeper.poll(), None)
        sleeper.kill()


if __name__ == "__main__":
    case.run(check)
