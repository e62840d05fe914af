#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a sweep adds to each run, with `true`: time per run of the whole sweep, less what the same run takes by itself. Prints
milliseconds. Usage: PYTHONPATH=tests/e2e tests/sweep/overhead.py [RUNS]"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import kit
from kit import case

PLAN = 'repetitions = {}\nworkloads = ["true"]\n[[configuration]]\nname = "{}"\n{}\n'


def seconds_each(runs, run):
    begin = time.monotonic()
    for number in range(runs):
        run(number)
    return (time.monotonic() - begin) / runs


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    with tempfile.TemporaryDirectory() as folder:
        this = SimpleNamespace(path=lambda name: Path(folder) / name)
        for name, more, alone in (
                ("dry", "dry = true", lambda number: ["true"]),
                ("full", "", lambda number: [case.MLRUN, "run", "--quiet", "-o", f"{folder}/alone{number}", "--", "true"])):
            by_itself = seconds_each(runs, lambda number: subprocess.run(alone(number), **quiet))  # pylint: disable=cell-var-from-loop
            sweep = kit.Sweep(this, PLAN.format(runs, name, more), name)
            in_sweep = seconds_each(1, lambda _: subprocess.run(sweep.command(), **quiet)) / runs  # pylint: disable=cell-var-from-loop
            print(f"{name}: {in_sweep * 1e3:.1f} ms a run in a sweep, {by_itself * 1e3:.1f} ms by itself: "
                  f"{(in_sweep - by_itself) * 1e3:.1f} ms more")


if __name__ == "__main__":
    main()
