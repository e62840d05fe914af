# SPDX-License-Identifier: Apache-2.0
"""What a tracer under test is to the harness, and the run without one. mlrun itself: mlrun.py; the others: peers.py."""

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from cases import BY_HAND


@dataclass
class Launch:
    """How a command is run under a tracer: its arguments, and what is added to the environment."""

    arguments: list
    environment: dict = field(default_factory=dict)


@dataclass
class Recorded:
    """What a run left behind. events: calls written down one by one; counted: calls only counted. -1: not known."""

    events: int = -1
    counted: int = 0
    lost: int = 0
    size_bytes: int = 0


class Tracer:
    """One configuration of one tool."""

    name = "untraced"
    about = "the program alone"
    program = ""  # what has to be on PATH; empty: nothing
    shares_cpu = False  # runs faster on the victim's own CPU than on another one
    needs_python = False  # can only trace what Python starts
    needs_command_clock_inside = False  # works on after the command's end, so the clock must be its child
    shorter_loops = 1  # its loops make this many times fewer calls, for it is that slow
    is_mlrun = False
    records = True

    @property
    def stands_for(self):
        """The name that cases know this tracer by; another build of mlrun has a name of its own besides."""
        return self.name

    def loop(self, case):
        return case.loop

    def missing(self):
        """None, or what has to be there for this tracer to run."""
        if self.program and not shutil.which(self.program):
            return f"{self.program} is not installed (tests/setup/install.sh bench)"
        return None

    def version(self):
        """First line of what `program --version` says."""
        return first_line([self.program, "--version"]) if self.program else ""

    def launch(self, command, folder):
        """`command` under this tracer, which may write to `folder` alone."""
        return Launch(list(command))

    def recorded(self, folder, ended):
        """Reads back what the run wrote."""
        return Recorded()


class ByHand(Tracer):
    """The program alone, in the loop that does besides what mlrun has to do."""

    name = BY_HAND
    about = "no tracer: the program calls fstat after each open itself"
    records = False

    def loop(self, case):
        return case.by_hand


def first_line(command):
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout or done.stderr).strip().partition("\n")[0]


def size_of(path):
    """Bytes of a file, or of all files under a folder."""
    path = Path(path)
    if path.is_file():
        return path.stat().st_size
    return sum(entry.stat().st_size for entry in path.rglob("*") if entry.is_file())
