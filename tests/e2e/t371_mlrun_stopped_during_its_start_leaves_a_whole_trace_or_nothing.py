# SPDX-License-Identifier: Apache-2.0
"""SIGHUP, SIGTERM and SIGINT at many moments of the start: mlrun ends like a command killed by the signal, and leaves
either a whole trace or nothing, so that the same -o works again."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from lib import case
from lib.terminal import wait_until

SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)


def restore_signals():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def stop(this, number, options, ready):
    """What mlrun printed when it was stopped as soon as ready(pid, trace folder) was true."""
    out = this.new_trace()
    with subprocess.Popen([case.MLRUN, *options, "-o", out, "--", "sleep", "20"], stderr=subprocess.PIPE, text=True,
                          env=this.environment, preexec_fn=restore_signals) as mlrun:
        ready(mlrun.pid, out)
        mlrun.send_signal(number)
        said = mlrun.communicate(timeout=60)[1]
    this.true("the status of a killed command", mlrun.returncode in (128 + number, -number), (mlrun.returncode, said))
    this.equal("shared memory", [name for name in os.listdir("/dev/shm") if f"mlrun-{mlrun.pid}-" in name], [])
    this.true("a whole trace or nothing", not out.exists() or (out / "run.json").exists(), out)
    this.true("no false reason", "statically" not in said, said)
    if not out.exists() and mlrun.returncode > 0:
        this.equal("lines", said.count("\n"), 1, said=said)
        this.true("the reason", "stopped by signal" in said, said)
    return not out.exists() and mlrun.returncode > 0, out


def after(delay_s):
    return lambda _pid, _out: time.sleep(delay_s)


def loading(pid, _out):
    """mlrun-probes runs and is still attaching."""
    wait_until("mlrun-probes", lambda: probes_of(pid))


def probes_of(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [child for child in children.read_text().split() if os.readlink(f"/proc/{child}/exe").endswith("mlrun-probes")]


def folder_is_there(_pid, out):
    wait_until("the folder", out.exists)


def check(this):
    stopped = 0
    for number in SIGNALS:
        for delay_ms in (1, 4, 8, 16, 32):
            stopped += stop(this, number, [], after(delay_ms / 1e3))[0]
        was_stopped, out = stop(this, number, [], folder_is_there)
        stopped += was_stopped
        shutil.rmtree(out, ignore_errors=True)
    this.true("some were stopped while they started", stopped > 0)
    out = this.path("taken")
    out.mkdir()
    this.equal("an empty folder may be used again", this.run(*this.command("true", out=out)).returncode, 0)
    if kernel_side_works(this):
        was_stopped, out = stop(this, signal.SIGTERM, ["--kprobes"], loading)
        this.true("stopped while it attached", was_stopped)
        this.equal("the next run", this.run(*this.command("true", out=out)).returncode, 0)


def kernel_side_works(this):
    return os.geteuid() == 0 and this.run(case.BUILD / "bin" / "mlrun-probes", "check").returncode in (0, 2)


if __name__ == "__main__":
    case.run(check)
