# SPDX-License-Identifier: Apache-2.0
"""Where /proc cannot be written to, as in some containers, one line says that clear-refs is not available. If it is required, that is an error before
anything runs; otherwise the command runs without it."""

import shutil

from lib import case

READ_ONLY = "mount --bind /proc /proc && mount -o remount,bind,ro /proc && exec \"$@\""


def check(this):
    inside = ("unshare", "--mount", "sh", "-c", READ_ONLY, "sh")
    if not shutil.which("unshare") or this.run(*inside, "true").returncode != 0:
        raise case.Skip("this system gives no mount namespace")
    wanted = "clear-refs: Read-only file system: /proc/PID/clear_refs cannot be written, as in some containers"
    done = this.run(*inside, case.MLRUN, "run", "-o", this.path("required"), "--access=clear-refs,require", "--", "/bin/echo", "ran")
    this.equal("required: status", (done.returncode, done.stdout, this.path("required").exists()), (125, "", False), said=done.stderr)
    this.true("required: one line that says why", wanted in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    done = this.run(*inside, case.MLRUN, "run", "--quiet", "-o", this.path("trace"), "--access=clear-refs", "--", "/bin/echo", "ran")
    this.equal("asked for: it ran", (done.returncode, done.stdout), (0, "ran\n"), said=done.stderr)
    this.true("asked for: and it is said", wanted in done.stderr, done.stderr)


if __name__ == "__main__":
    case.run(check)
