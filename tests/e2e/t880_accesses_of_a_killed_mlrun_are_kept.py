# SPDX-License-Identifier: Apache-2.0
"""SIGKILL to mlrun while a program runs with --access: the recovered trace has the accesses up to then, with their blocks and sites, names the rung and what it
does not see, and says that how much of the time was seen is unknown."""

import os
import signal
import subprocess
import time

from lib import accesses, case, killed_collector


def check(this):
    out = this.new_trace()
    options = ("--access=faults", "--alloc-min", "64K", "--python-stacks=off", "--sample=off")
    command = this.command(this.victim("touches"), "random", "16", "4", out=out, options=options)
    output = this.path("output")
    with output.open("w") as into, subprocess.Popen(command, env=this.environment, cwd=this.folder, stdout=into) as mlrun:
        killed_collector.wait_for(lambda: output.read_text().count("\n") == 1, 60)
        blocks = [int(word) for word in output.read_text().split()[:2]]  # filled by now
        time.sleep(1.5)  # rows are fetched each 0.2 s
        os.kill(mlrun.pid, signal.SIGKILL)
    killed_collector.wait_for(lambda: output.read_text().count("\n") == 2, 60)
    done = this.run(case.MLRUN, "recover", out)
    this.equal("exit status of recover", done.returncode, 0, said=done.stderr)
    trace = this.opened(out)
    facts = accesses.tried(trace, "faults")
    this.true("the rung is named", "all but the first access" in facts["blind_to"], facts)
    rows = trace.rows("access")
    for address in blocks:
        mine = {row["addr"] // accesses.PAGE for row in rows if row["block_addr"] is not None and address <= row["addr"] < address + (16 << 20)}
        this.true("pages of a block that were filled before the kill", len(mine) > 1000, (len(mine), len(rows)))
    this.true("and its site", any(row["faults"] > 1000 for row in accesses.site_rows(trace, "faults")), trace.rows("access_site"))
    details = [row["detail"] for row in trace.rows("coverage") if row["subject"] == "accesses by faults"]
    this.true("it is said", any("mlrun was killed" in one for one in details), details)
    this.true("the summary has it", "ACCESS by faults" in " ".join(this.run(case.MLRUN, "report", out).stdout.split()))


if __name__ == "__main__":
    case.run(check)
