# SPDX-License-Identifier: Apache-2.0
"""Kills mlrun with SIGKILL while a numbered program runs, lets the program end, and returns what it did."""

import os
import signal
import struct
import subprocess
import time
from dataclasses import dataclass

CALLS, PAUSE_NS = 40000, 20000
# The shell outlives mlrun as the program's parent, so that it can record the exit status.
WRAPPED = '"$@" > "$OUTPUT"; echo $? > "$STATUS"'


@dataclass
class Aftermath:
    trace: object            # the unfinished trace folder
    finished_before: int     # calls that had returned when the kill was sent
    output: str
    status: int


def wait_for(condition, seconds):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"waited {seconds} s in vain")
        time.sleep(0.01)


def calls_finished(progress):
    return struct.unpack("q", progress.read_bytes())[0]


def kill_mlrun_after(case, calls, issued=CALLS, pause_ns=PAUSE_NS, options=(), prefix=()):
    """The program issues `issued` calls; the kill comes once `calls` of them have returned. `prefix`: a command that executes mlrun."""
    data, out = case.data_file(), case.new_trace()
    progress, output, status = (case.path(f"{out.name}.{name}") for name in ("progress", "output", "status"))
    progress.write_bytes(bytes(8))
    victim = (case.victim("paced"), data, issued, progress, pause_ns)
    command = [*prefix, *case.command("/bin/sh", "-c", WRAPPED, "sh", *victim, out=out, options=options)]
    environment = case.environment | {"OUTPUT": str(output), "STATUS": str(status)}
    with subprocess.Popen(command, env=environment, cwd=case.folder) as mlrun:
        wait_for(lambda: calls_finished(progress) >= calls, 60)
        before = calls_finished(progress)
        os.kill(mlrun.pid, signal.SIGKILL)
    wait_for(lambda: status.exists() and status.read_text().endswith("\n"), 60)
    return Aftermath(out, before, output.read_text(), int(status.read_text()))
