#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What blocks cost untraced, in a heap of ours (the control), and in one that is bound. README.md has the bars.
Usage: run.py [--rounds N] [--build DIR]"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
CASES = [("small", 64), *[(what, size) for what in ("loop", "pair", "pass") for size in (64 << 10, 1 << 20, 16 << 20)], ("grow", 0), ("again", 0), ("turns", 0),
         ("keep", 0)]
HEAPS = {"untraced": None, "control": ("--preload=off", "--place", "-> default"), "node 0": ("--preload=off", "--place", "-> node 0"),
         "signature": ("--preload=off", "--place", f"site {','.join(['00000000+0'] * 16)} -> default", "--place", "-> default"),
         "recorder": (), "recorder + control": ("--place", "-> default")}
WITH_RECORDER = ("small",)
WITH_SIGNATURE = ("loop",)  # a rule that walks to all callers of each block and fits none


def measure(build, heap, what, size):
    """The figures that blocks prints."""
    program = [str(build / "bench" / "blocks"), what, str(size)]
    if HEAPS[heap] is None:
        return [float(word) for word in subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()]
    folder = tempfile.mkdtemp()
    command = [str(build / "bin" / "mlrun"), "run", "--quiet", "--defer-merge", "-o", f"{folder}/trace", "--sample=off", "--python-stacks=off", *HEAPS[heap]]
    done = subprocess.run([*command, "--", *program], capture_output=True, text=True, check=True)
    shutil.rmtree(folder)
    return [float(word) for word in done.stdout.split()]


def shown(values):
    quarters = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return f"{statistics.median(values):,.4g} ({quarters[0]:,.4g} to {quarters[2]:,.4g})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--build", type=Path, default=Path(os.environ.get("MLRUN_BUILD", SOURCE / "build")))
    asked = parser.parse_args()
    print("| case | bytes | heap | wall ns (keep: resident/asked) | CPU ns (keep: MiB after free) | least CPU, beyond untraced | ratio |\n|---|---|---|---|---|---|---|")
    for what, size in CASES:
        heaps = [heap for heap in HEAPS if (what in WITH_RECORDER or not heap.startswith("recorder")) and (what in WITH_SIGNATURE or heap != "signature")]
        found = {heap: [] for heap in heaps}
        for _ in range(asked.rounds):
            for heap in random.sample(heaps, len(heaps)):
                found[heap].append(measure(asked.build.resolve(), heap, what, size))
        base = min(cpu for _, cpu in found["untraced"])
        for heap in heaps:
            least = min(cpu for _, cpu in found[heap])
            print(f"| {what} | {size} | {heap} | {shown([first for first, _ in found[heap]])} | {shown([cpu for _, cpu in found[heap]])} "
                  f"| {least - base:+,.1f} | {least / max(base, 0.1):.3f} × |", flush=True)


if __name__ == "__main__":
    main()
