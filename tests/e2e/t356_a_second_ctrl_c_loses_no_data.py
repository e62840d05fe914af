# SPDX-License-Identifier: Apache-2.0
"""Two Ctrl-Cs in a terminal: while the program handles the first, the second reaches it too and does not end mlrun.
During the merge, Ctrl-C ends only the merge: everything is kept and recover finishes it."""

import contextlib
import os
import pathlib
import pty
import signal
import time

from lib import case
from lib.trace import Trace
from t311_interrupt_from_the_terminal_comes_once import read_until

CALLS = 800000
TWICE = """
import os, signal, sys, time
got = []
signal.signal(signal.SIGINT, lambda *_: (got.append(1), os.write(1, b"got %d\\n" % len(got))))
print("ready", flush=True)
until = time.monotonic() + 20
while len(got) < 2 and time.monotonic() < until: time.sleep(0.05)
data = open(sys.argv[1], "rb", buffering=0)
for number in range(1000): os.pread(data.fileno(), 1, number)
print("over", flush=True)
os._exit(6)
"""


def on_terminal(command, environment):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(command[0], command, environment)
    return pid, terminal


def end_of(pid, terminal):
    said = read_until(terminal, b"(nothing more)", 60)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


def child_of(parent, name):
    """The pid of the child that runs the program of this name, as soon as there is one."""
    children = pathlib.Path(f"/proc/{parent}/task/{parent}/children")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for child in children.read_text().split():
            with contextlib.suppress(OSError):  # it has ended
                if name in pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]:
                    return int(child)
    raise AssertionError(f"{name} was not seen")


def while_the_program_runs(this):
    out = this.new_trace()
    pid, terminal = on_terminal(this.command("/usr/bin/python3", "-c", TWICE, this.data_file(), out=out), this.environment)
    read_until(terminal, b"ready")
    for number in (b"1", b"2"):
        os.write(terminal, b"\x03")
        said = read_until(terminal, b"got " + number)
        this.true("the program got it", b"got " + number in said, said)
    status, said = end_of(pid, terminal)
    this.equal("exit status", status, 6, said=said)
    this.equal("calls after the second", len(Trace(out).calls_of("pread", path=this.data_file())), 1000)


def while_the_trace_is_made(this):
    out = this.new_trace()
    command = this.command("/bin/sh", "-c", '"$@"; echo ended', "sh", this.victim("numbered"), this.data_file(), CALLS, "exit",
                           out=out, options=["--lossless"])
    pid, terminal = on_terminal(command, this.environment)
    read_until(terminal, b"ended", 60)
    merger = child_of(pid, b"mlrun-trace")
    os.kill(merger, signal.SIGSTOP)  # so that it is not done before the signal arrives
    os.write(terminal, b"\x03\x03")
    with contextlib.suppress(ProcessLookupError):  # Ctrl-C ends it although it is stopped
        os.kill(merger, signal.SIGCONT)
    status, said = end_of(pid, terminal)
    this.true("the merge was interrupted", b"mlrun recover" in said, said)
    this.equal("the command's own status", status, 0, said=said)
    done = this.run(case.MLRUN, "recover", out)
    this.equal("exit status of recover", done.returncode, 0, said=done.stderr)
    this.equal("calls", Trace(out).table("call")["func"].to_pylist().count("pread"), CALLS)


def check(this):
    while_the_program_runs(this)
    while_the_trace_is_made(this)


if __name__ == "__main__":
    case.run(check)
