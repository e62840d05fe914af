# SPDX-License-Identifier: Apache-2.0
"""--pid, --cgroup and --system: contradictory options, missing targets and targets of another user give one line, exit
status 125 and no trace."""

import os
import subprocess
import tempfile
from pathlib import Path

from lib import case

NOBODY = 65534
REFUSALS = (
    (("--pid", "1"), "add --kprobes"),
    (("--system", "--kprobes=off"), "add --kprobes"),
    (("--kprobes", "--pid", "1", "true"), "leave out the command (true)"),
    (("--kprobes", "--system", "--", "true"), "leave out the command (true)"),
    (("--kprobes", "--preload", "--pid", "1"), "--preload is about a command"),
    (("--kprobes", "--cupti", "--system"), "--cupti is about a command"),
    (("--kprobes", "--pid", "1", "--access-read-event", "1cd"), "--access-read-event is about a command"),
    (("--kprobes=cuda", "true"), "goes with --pid"),
    (("--kprobes", "--pid", "1", "--system"), "give one of them"),
    (("--kprobes", "--cgroup", "a", "--pid", "1"), "give one of them"),
    (("--kprobes", "--pid", "1,x"), "'x' is not a PID"),
    (("--kprobes", "--pid", "0"), "'0' is not a PID"),
    (("--kprobes", "--system", "--duration", "soon"), "not a time"),
    (("--kprobes", "--system", "--duration", "0"), "greater than 0"),
    (("--kprobes", "--duration", "3", "true"), "goes with --pid"),
    (("--kprobes", "--cgroup", "there-is-no/such-cgroup"), "no such cgroup"),
    (("--kprobes", "--cgroup", "/proc"), "is no cgroup"),
    (("--kprobes", "--pid", str(1 << 30)), "no such process"),
)


def refused(this, folder, options, words, before=()):
    out = Path(folder) / "none"
    done = this.run(*before, case.MLRUN, "-o", out, *options, cwd=folder)
    lines = done.stderr.splitlines()
    what = " ".join(options)
    this.equal(f"{what}: exit status", done.returncode, 125, said=done.stderr)
    this.true(f"{what}: one line that says why", len(lines) == 1 and words in lines[0], done.stderr)
    this.true(f"{what}: no trace", not out.exists())


def check(this):
    for options, words in REFUSALS:
        refused(this, this.folder, options, words)
    if os.geteuid() != 0:
        raise case.Skip("other users can be tried as root only")
    with tempfile.TemporaryDirectory() as folder, subprocess.Popen(["sleep", "60"]) as stranger:
        os.chown(folder, NOBODY, NOBODY)
        as_nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        if this.run(*as_nobody, case.MLRUN, "--help", cwd=folder).returncode == 0:
            refused(this, folder, ("--kprobes", "--pid", str(stranger.pid)), "another user's", as_nobody)
            refused(this, folder, ("--kprobes", "--system"), "root", as_nobody)
        stranger.kill()


if __name__ == "__main__":
    case.run(check)
