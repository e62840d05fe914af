# SPDX-License-Identifier: Apache-2.0
"""kill -9 of mlrun: soon no BPF program of ours is loaded, and the command goes on."""

import os
import signal
import subprocess

from lib import case
from lib.kernel_side import need_kernel_side, programs_loaded
from lib.killed_collector import wait_for


def check(this):
    need_kernel_side()
    case.need_program("bpftool")
    begun, mark = this.path("begun"), this.path("still-there")
    command = this.command("sh", "-c", f"echo yes > {begun}; sleep 3; echo yes > {mark}", out=this.new_trace(),
                           options=("--kprobes",))
    with subprocess.Popen(command, env=this.environment, cwd=this.folder) as mlrun:
        wait_for(begun.exists, 60)
        this.true("programs are loaded", programs_loaded())
        os.kill(mlrun.pid, signal.SIGKILL)
    wait_for(lambda: not programs_loaded(), 60)  # the kernel frees them a moment after they are let go
    wait_for(mark.exists, 60)


if __name__ == "__main__":
    case.run(check)
