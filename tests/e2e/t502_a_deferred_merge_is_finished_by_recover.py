# SPDX-License-Identifier: Apache-2.0
"""--defer-merge merges nothing and keeps the spool; recover then makes the trace, and a second recover changes
nothing."""

from lib import case, serials
from lib.trace import Trace

CALLS = 300_000


def check(this):
    data, out = this.data_file(), this.new_trace()
    done = this.run(*this.command(this.victim("numbered"), data, CALLS, "exit", out=out, options=("--defer-merge",)))
    this.equal("exit status", done.returncode, 7, said=done.stderr)
    this.true("no tables yet", not (out / "tables").exists())
    done = this.run(case.MLRUN, "recover", out)
    this.equal("exit status of recover", done.returncode, 0, said=done.stderr)
    serials.expect_threads(this, Trace(out).serials(data), [CALLS])
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    this.run(case.MLRUN, "recover", out)
    this.equal("files after a second recover", {path: path.stat().st_mtime_ns for path in out.rglob("*")}, before)


if __name__ == "__main__":
    case.run(check)
