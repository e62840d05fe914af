# SPDX-License-Identifier: Apache-2.0
"""A second after kill -9 of mlrun, no BPF program of its mlrun-probes is loaded, and the command still runs."""

import os
import signal
import subprocess
import time

from lib import case
from lib.kernel_side import need_kernel_side
from lib.killed_collector import wait_for
from lib.loaded_programs import probes_of, programs_held_by, programs_loaded

SOON_S = 1.0
STREAMS = "block,wait,vfs,syscalls"
KINDS = ("on_request_", "on_bio_", "on_switch", "on_waking", "on_fork", "on_page_added", "on_syscall_enter")


def check(this):
    need_kernel_side()
    case.need_program("bpftool")
    begun, mark = this.path("begun"), this.path("still-there")
    command = this.command("sh", "-c", f"echo yes > {begun}; sleep 3; echo yes > {mark}", out=this.new_trace(),
                           options=(f"--kprobes={STREAMS}",))
    with subprocess.Popen(command, env=this.environment, cwd=this.folder) as mlrun:
        wait_for(begun.exists, 60)
        probes = probes_of(mlrun.pid)
        this.true("mlrun-probes runs", probes)
        numbers = programs_held_by(probes)
        names = programs_loaded(numbers)
        this.equal("all that it has is loaded", set(names), numbers)
        for kind in KINDS:
            this.true(f"{kind} is loaded", any(name.startswith(kind) for name in names.values()), names)
        os.kill(mlrun.pid, signal.SIGKILL)
        killed = time.monotonic()
    left = names
    while left and time.monotonic() - killed < 60:
        left, looked = programs_loaded(numbers), time.monotonic()
    took = looked - killed
    print(f"{len(names)} programs, gone {took:.2f} s after the kill")
    this.true(f"none is loaded within {SOON_S} s", not left and took <= SOON_S, (took, left))
    wait_for(mark.exists, 60)


if __name__ == "__main__":
    case.run(check)
