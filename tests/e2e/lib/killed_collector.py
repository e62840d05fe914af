# SPDX-License-Identifier: Apache-2.0
"""Kills mlrun with SIGKILL while a numbered program runs, lets the program end, and tells what it did."""

import os
import signal
import struct
import subprocess
import time
from dataclasses import dataclass

CALLS = 40000
# The shell outlives mlrun as the program's parent, so that somebody sees the exit status.
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


def kill_mlrun_after(case, calls, options=()):
    data, out = case.data_file(), case.new_trace()
    progress, output, status = (case.path(f"{out.name}.{name}") for name in ("progress", "output", "status"))
    progress.write_bytes(bytes(8))
    finished = lambda: struct.unpack("q", progress.read_bytes())[0]
    command = case.command("/bin/sh", "-c", WRAPPED, "sh", case.victim("numbered_forever"), data, CALLS, progress, out=out,
                           options=options)
    environment = case.environment | {"OUTPUT": str(output), "STATUS": str(status)}
    with subprocess.Popen(command, env=environment, cwd=case.folder) as mlrun:
        wait_for(lambda: finished() >= calls, 60)
        before = finished()
        os.kill(mlrun.pid, signal.SIGKILL)
    wait_for(lambda: status.exists() and status.read_text().endswith("\n"), 60)
    return Aftermath(out, before, output.read_text(), int(status.read_text()))
