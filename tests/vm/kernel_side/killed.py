#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs in the guest: mlrun traces a program that reads in a loop, with file operations, and is killed with SIGKILL. Writes down
which of its BPF programs the kernel still had, how long after that, and how much was recorded meanwhile.

Usage: killed.py MLRUN TRACE OUT COMMAND..."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))
from lib.loaded_programs import probes_of, programs_held_by, programs_loaded  # noqa: E402

MLRUN, TRACE, OUT, COMMAND = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:]
AT_MOST_S = 120


def recorded():
    """Bytes of records, without the unwritten rest of the file."""
    spool = (TRACE / "kernel.bin").read_bytes()
    return len(spool.rstrip(b"\0"))


with subprocess.Popen([MLRUN, "--preload", "--kprobes=require,block,wait,vfs", "--quiet", "-o", TRACE, "--", *COMMAND]) as mlrun:
    while not (TRACE / "kernel.bin").exists() or recorded() < 100_000:  # it reads, and that is seen
        if mlrun.poll() is not None:
            sys.exit("mlrun has ended")
        time.sleep(0.1)
    probes = probes_of(mlrun.pid)
    numbers = programs_held_by(probes)
    names = programs_loaded(numbers)
    os.kill(mlrun.pid, signal.SIGKILL)
    killed = time.monotonic()
readings, left, probes_ended_s = [], names, None
while left and time.monotonic() - killed < AT_MOST_S:
    time.sleep(0.3)
    left = programs_loaded(numbers)
    readings.append({"after_s": time.monotonic() - killed, "left": sorted(left.values()), "recorded": recorded()})
    if probes_ended_s is None and not Path(f"/proc/{probes}").exists():
        probes_ended_s = time.monotonic() - killed
OUT.write_text(json.dumps({"names": sorted(names.values()), "held": len(numbers), "readings": readings,
                           "probes_ended_s": probes_ended_s}))
