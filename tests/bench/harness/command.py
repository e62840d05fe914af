# SPDX-License-Identifier: Apache-2.0
"""Runs one command to its end or its time limit, and says when it ended and what CPU time its whole tree used."""

import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

TAIL_LINES = 6


@dataclass
class Ended:
    """How a command ended. Times are of CLOCK_MONOTONIC; cpu_ns holds all descendants that were waited for."""

    status: int
    timed_out: bool
    begin_ns: int
    end_ns: int
    cpu_ns: int
    output: str
    errors: str

    def complaint(self, limit_s):
        """None, or one line that says why the run cannot be used."""
        if self.timed_out:
            return f"timed out after {limit_s:.0f} s"
        if self.status != 0:
            words = [line for line in (self.errors or self.output).splitlines() if line.strip()][-TAIL_LINES:]
            return f"exit status {self.status}: {' | '.join(words) or 'it said nothing'}"
        return None


def run_command(arguments, folder, limit_s, environment=None, cpus=None):
    """Runs in `folder`, in a session of its own, so that nothing of it is left when the time is up. `cpus`: where the
    command may run (all that we may use ourselves)."""
    if cpus:
        arguments = ["taskset", "--cpu-list", ",".join(map(str, cpus)), *arguments]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin_ns = time.monotonic_ns()
        process = subprocess.Popen(
            arguments,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        timed_out = True  # until its exit is seen
        try:
            timed_out = not wait_for_exit(process.pid, limit_s)
            end_ns = time.monotonic_ns()
        finally:  # an interrupt, too, leaves nothing running
            if timed_out:
                end_session(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return Ended(
            process.returncode,
            timed_out,
            begin_ns,
            end_ns,
            int((usage.ru_utime + usage.ru_stime) * 1e9),
            text_of(output),
            text_of(errors),
        )


def wait_for_exit(pid, limit_s):
    """True as soon as the process has ended (it is not reaped), False when the time is up."""
    descriptor = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(limit_s * 1000))
    finally:
        os.close(descriptor)


def end_session(leader):
    """SIGTERM, and two seconds later SIGKILL, to every process of the session; some tracers clean up on the first."""
    for number, patience_s in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 0.5)):
        for pid in processes_of_session(leader):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        until = time.monotonic() + patience_s
        while processes_of_session(leader) and time.monotonic() < until:
            time.sleep(0.05)


def processes_of_session(leader):
    """Live processes; one that has ended and waits to be reaped does not count."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            state, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if int(session) == leader and state != "Z":
            found.append(int(entry.name))
    return found


def text_of(file):
    file.seek(0)
    return file.read().decode(errors="replace")
