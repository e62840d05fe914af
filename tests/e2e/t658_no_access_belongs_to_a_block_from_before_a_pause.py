# SPDX-License-Identifier: Apache-2.0
"""With mlrun pause and resume while blocks come and go at addresses that are used again, no access is listed within the pause, none after it belongs to a block from
before it, coverage says so, and advise refuses the trace."""

import subprocess
import time

from lib import accesses, case

OPTIONS = ("--access=faults", "--alloc-min", "64K", "--stacks=16", "--python-stacks=off", "--sample=off")


def paused_run(this, out):
    output = this.path("output")
    with output.open("w") as into, subprocess.Popen(this.command(this.victim("touches"), "reused", "1", "5", out=out, options=OPTIONS), stdout=into, env=this.environment,
                                                    cwd=this.folder) as program:
        time.sleep(1)
        for verb in ("pause", "resume"):
            done = this.run(case.MLRUN, verb, out)
            this.equal(f"exit status of {verb}", done.returncode, 0, said=done.stderr)
            time.sleep(0.7)
        program.wait(60)
    this.equal("exit status", program.returncode, 0)


def check(this):
    out = this.new_trace()
    paused_run(this, out)
    trace = this.opened(out)
    accesses.tried(trace, "faults")
    (pause,) = (row for row in trace.rows("loss") if row["reason"] == "paused")
    rows = trace.rows("access")
    inside = [row for row in rows if pause["first"] <= row["ts"] <= pause["last"] and row["block_addr"] is not None]
    this.equal("accesses within the pause with a block", inside[:2], [])
    seen = sum(pause["first"] + 100_000_000 <= row["ts"] <= pause["last"] - 100_000_000 for row in rows)
    this.equal("accesses in the middle of the pause", seen, 0)
    joined = [row for row in rows if row["block_addr"] is not None]
    this.true("accesses before and after it with a block", any(row["ts"] < pause["first"] for row in joined) and any(row["ts"] > pause["last"] for row in joined), len(joined))
    stale = [row for row in joined if row["ts"] > pause["last"] and row["block_ts"] <= pause["first"]]
    this.equal("accesses after it with a block from before", stale[:2], [])
    details = [row["detail"] for row in trace.rows("coverage") if row["subject"] == "accesses"]
    this.true("coverage says so", any("paused" in one for one in details), details)
    done = this.run(case.MLRUN, "advise", out, "--fast", "huge=17M", "-o", this.path("advice.toml"))
    this.true("advise refuses it", done.returncode != 0 and "record it without a pause" in done.stderr, done.stderr + done.stdout)


if __name__ == "__main__":
    case.run(check)
