# SPDX-License-Identifier: Apache-2.0
"""A rung of --access that works in the trial and not on the command is named by no file, also where mlrun is killed: it has seen nothing."""

import json
import os
import signal
import subprocess

from lib import case, killed_collector


def check(this):
    out = this.new_trace()
    options = ("--access=faults", "--python-stacks=off", "--sample=off")
    begun, end = this.path("begun"), this.path("end")
    script = f"touch {begun}; until [ -e {end} ]; do sleep 0.05; done; touch {end}.seen"
    environment = this.environment | {"LD_PRELOAD": this.victim("refuses_events.so")}
    with subprocess.Popen(this.command("/bin/sh", "-c", script, out=out, options=options), env=environment, cwd=this.folder,
                          stderr=subprocess.PIPE, text=True) as mlrun:
        killed_collector.wait_for(begun.exists, 60)
        os.kill(mlrun.pid, signal.SIGKILL)
        end.touch()
        said = mlrun.stderr.read()
    killed_collector.wait_for(this.path("end.seen").exists, 60)
    if "are not seen" in said:  # the trial failed, too
        raise case.Skip(said)
    reported = json.loads((out / "session.json").read_text())["access"]
    this.true("the rung does not start", "--access: faults: " in said, said)
    this.equal("rungs", reported["rungs"], [])
    this.true("why", "open files" in reported["problem"] and all("open files" in one["problem"] for one in reported["tried"]), reported)
    done = this.run(case.MLRUN, "recover", out)
    this.equal("exit status of recover", done.returncode, 0, said=done.stderr)
    this.equal("rungs of the trace", this.opened(out).run["access"]["rungs"], [])


if __name__ == "__main__":
    case.run(check)
