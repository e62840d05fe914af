# SPDX-License-Identifier: Apache-2.0
"""--kprobes without privilege: one line names what it needs, and the rest of the run is unaffected; with =require
nothing runs."""

import os
import tempfile
from pathlib import Path

from lib import case
from lib.trace import Trace

NOBODY = 65534


def check(this):
    case.need_root()
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, NOBODY, NOBODY)
        as_nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", case.MLRUN)
        if this.run(*as_nobody, "--help", cwd=folder).returncode != 0:
            raise case.Skip("another user cannot reach the build folder")
        out = Path(folder) / "trace"
        done = this.run(*as_nobody, "--preload", "--kprobes", "--quiet", "-o", out, "sh", "-c", "exit 7", cwd=folder)
        if "libmlrun_preload.so is missing" in done.stderr:
            raise case.Skip("another user cannot reach the build folder")
        this.equal("exit status", done.returncode, 7, said=done.stderr)
        said = [line for line in done.stderr.splitlines() if "kernel side" in line]
        this.true("one line, which says what it needs", len(said) == 1 and "needs root" in said[0], done.stderr)
        trace = Trace(out)
        this.true("the calls are there", len(trace.calls) > 0)
        this.true("coverage says so too", trace.covers("kernel side"), trace.rows("coverage"))
        done = this.run(*as_nobody, "--kprobes=require", "-o", out.with_name("none"), "touch", Path(folder) / "ran",
                        cwd=folder)
        this.equal("exit status with =require", done.returncode, 125, said=done.stderr)
        this.true("the command was not run", not (Path(folder) / "ran").exists())
        this.true("nothing is left behind", not out.with_name("none").exists())


if __name__ == "__main__":
    case.run(check)
