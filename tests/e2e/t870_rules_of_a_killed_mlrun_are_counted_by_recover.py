# SPDX-License-Identifier: Apache-2.0
"""SIGKILL to mlrun while a program has placed blocks: recover finds what its processes have counted by each rule, before the kill and after it, and says that no
pages were sampled. Without those counts they are unknown: the summary does not say that no block fits a rule. Mappings of the program's own are named so."""

import json
import os
import signal
import subprocess

from lib import case, killed_collector

PROGRAM = """
import os, sys, time
blocks = [bytearray(2 << 20) for _ in range(8)]
open(sys.argv[1], "w").close()
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
more = [bytearray(2 << 20) for _ in range(4)]
open(sys.argv[3], "w").close()
"""
RULES = ("--place", "size >= 2M -> node 0", "--place", "mmap size >= 1T -> default")


def said_of(this, trace):
    return this.run(case.MLRUN, "report", trace).stdout


def check(this):
    out = this.new_trace()
    holds, goes_on, ends = (this.path(name) for name in ("holds", "goes_on", "ends"))
    command = this.command("/usr/bin/python3", "-c", PROGRAM, holds, goes_on, ends, out=out, options=RULES)
    with subprocess.Popen(command, env=this.environment, cwd=this.folder) as mlrun:
        killed_collector.wait_for(holds.exists, 60)
        os.kill(mlrun.pid, signal.SIGKILL)
    goes_on.touch()
    killed_collector.wait_for(ends.exists, 60)
    done = this.run(case.MLRUN, "recover", out)
    this.equal("exit status of recover", done.returncode, 0, said=done.stderr)
    rows = {row["rule"]: row for row in this.opened(out).rows("placement")}
    this.equal("blocks of both times", (rows[0]["matches"], rows[0]["bytes"] >> 20), (12, 24))
    for said in ("12 blocks of 24.0 MiB", "pages not sampled (mlrun was killed)", "no mapping fits this rule"):
        this.true(f"the summary says {said!r}", said in said_of(this, out), said_of(this, out))
    run = json.loads((out / "run.json").read_text(encoding="utf-8"))
    del run["placement"]["processes"]
    (out / "run.json").write_text(json.dumps(run), encoding="utf-8")
    this.true("unknown", "PLACED        unknown: mlrun was killed" in said_of(this, out), said_of(this, out))


if __name__ == "__main__":
    case.run(check)
