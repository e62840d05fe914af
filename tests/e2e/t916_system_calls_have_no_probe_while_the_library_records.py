# SPDX-License-Identifier: Apache-2.0
"""With --preload, without vfs, and where kernel functions can be probed, no BPF program of mlrun is attached to system
calls, which would slow down every process of the machine; the kernel's own list confirms it."""

import subprocess

from lib import case
from lib.attached_programs import attached_by
from lib.kernel_side import need_kernel_side
from lib.killed_collector import wait_for
from lib.loaded_programs import probes_of
from lib.trace import Trace


def on_system_calls(this, *options):
    """BPF programs on system calls while a command runs, and the mechanism that recorded file operations."""
    begun, go, out = this.path("begun"), this.path("go"), this.new_trace()
    for file in (begun, go):
        file.unlink(missing_ok=True)
    script = f"echo yes > {begun}; until [ -e {go} ]; do sleep 0.05; done"
    with subprocess.Popen([case.MLRUN, *options, "-o", out, "--", "sh", "-c", script], env=this.environment,
                          cwd=this.folder, stderr=subprocess.DEVNULL) as mlrun:
        wait_for(begun.exists, 60)
        attached = attached_by(probes_of(mlrun.pid))
        go.touch()
        this.equal(f"exit status with {options}", mlrun.wait(120), 0)
    this.true("others are attached", any(name.startswith("on_request_") for name in attached), attached)
    signals = Trace(out).run["kernel_side"]["signals"]
    mechanism = next(signal["mechanism"] for signal in signals if signal["signal"] == "file operations")
    return {name for name in attached if name.startswith(("on_file_call", "on_syscall"))}, mechanism


def check(this):
    need_kernel_side()
    case.need_program("bpftool")
    with_library, mechanism = on_system_calls(this, "--preload", "--kprobes=block,wait,vfs")
    this.equal("with the library", with_library, set())
    this.true("nor are they the fallback for file operations", mechanism != "tracepoint", mechanism)
    this.equal("without vfs", on_system_calls(this, "--preload=off", "--kprobes=block,wait"), (set(), None))
    without, mechanism = on_system_calls(this, "--preload=off", "--kprobes=block,wait,vfs")
    this.equal("without the library", without, {"on_file_call", "on_file_call_en"} if mechanism == "tracepoint" else set())
    this.true("one of the mechanisms works", mechanism, mechanism)


if __name__ == "__main__":
    case.run(check)
