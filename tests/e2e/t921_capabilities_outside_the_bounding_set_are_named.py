# SPDX-License-Identifier: Apache-2.0
"""If the bounding set lacks a capability of mlrun-probes' file, as in a container, the kernel refuses to execute it:
one line names the capability and the remedy, the rest of the run is unaffected, and `mlrun doctor` says the same."""

import os
import shutil
from pathlib import Path

from lib import case
from lib.trace import Trace


def installed(this):
    """A copy of mlrun whose probes have capabilities."""
    built = Path(case.MLRUN).parent.parent
    for part in ("bin", "lib"):
        shutil.copytree(built / part, this.path("installed") / part)
    mlrun = this.path("installed") / "bin" / "mlrun"
    done = this.run(mlrun, "doctor", "--fix", "--yes")
    if done.returncode != 0 or not os.listxattr(mlrun.with_name("mlrun-probes")):
        raise case.Skip("files can have no capabilities here: " + done.stderr.strip())
    return mlrun


def check(this):
    case.need_root()
    without = ("setpriv", "--bounding-set=-perfmon")
    case.need_command(*without, "true")
    mlrun = installed(this)
    says = "its file has cap_perfmon, which no process"
    out = this.new_trace()
    done = this.run(*without, mlrun, "--preload", "--kprobes", "--quiet", "-o", out, "sh", "-c", "exit 7")
    this.equal("exit status", done.returncode, 7, said=done.stderr)
    said = [line for line in done.stderr.splitlines() if "kernel side" in line]
    this.true("one line, which says what to do", len(said) == 1 and says in said[0] and "setcap -r" in said[0],
              done.stderr)
    this.true("coverage says so too", any(says in row["detail"] for row in Trace(out).covers("kernel side")))
    done = this.run(*without, mlrun, "doctor")
    said = " ".join(done.stdout.split())
    this.true("the doctor says so", says in said and "said nothing" not in said, done.stdout)
    done = this.run(*without, mlrun, "doctor", "--fix")
    this.true("there is nothing to fix it with", done.returncode != 0 and says in done.stderr, done.stderr)
    done = this.run(mlrun, "doctor")
    this.true("with them in bounds nothing of it is said", says not in " ".join(done.stdout.split()), done.stdout)


if __name__ == "__main__":
    case.run(check)
