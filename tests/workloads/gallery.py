#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of runner/python/gallery.md from runs of this machine: a training, its zoomed epoch, a sweep over the size of reads.

Usage: gallery.py BUILD [NAME...]    NAME: only these pictures. As root the training is recorded with --kprobes.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "runner" / "python"
sys.path.insert(0, str(PACKAGE))
import mlrun_trace
from mlrun_trace.plot import draw
from mlrun_trace.plot.options import Options
from mlrun_trace.plot.span import zoomed

OUT = PACKAGE / "gallery"
READ = """
import os, sys
size = int(sys.argv[1])
fd = os.open("data.bin", os.O_RDONLY)
for begin in range(0, 16 << 20, size):
    os.pread(fd, size, begin)
"""
PLAN = """
repetitions = 7
workloads = "{python} read.py {{size}}"
[parameters]
size = [4096, 8192, 16384, 32768, 65536]
[[configuration]]
name = "untraced"
dry = true
[[configuration]]
name = "traced"
"""


def record(mlrun, folder):
    subprocess.run([sys.executable, HERE / "make_kits.py", "--out", "kits"], cwd=folder, check=True, capture_output=True)
    kernel = ["--kprobes"] if os.geteuid() == 0 else []
    command = [mlrun, "--preload", *kernel, "--quiet", "-o", "train", "--mllog", "train.log", sys.executable, HERE / "train.py", "--data", "kits", "--workers", "3",
               "--epochs", "3", "--mllog", "train.log", "--checkpoint-dir", "checkpoints"]
    subprocess.run(list(map(str, command)), cwd=folder, check=True)
    (folder / "read.py").write_text(READ)
    (folder / "data.bin").write_bytes(bytes(16 << 20))
    (folder / "plan.toml").write_text(PLAN.format(python=sys.executable))
    subprocess.run([mlrun, "sweep", "plan.toml", "-o", "reads"], cwd=folder, check=True)


def small(path):
    """256 colours are enough for drawings, and a third of the bytes."""
    with Image.open(path) as picture:
        reduced = picture.convert("RGB").resize((picture.width // 2, picture.height // 2), Image.Resampling.LANCZOS).quantize(256, method=Image.Quantize.MAXCOVERAGE)
    reduced.save(path, optimize=True)


def main():
    build, wanted = Path(sys.argv[1]).resolve(), sys.argv[2:]
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mlrun-gallery.") as scratch:
        folder = Path(os.environ.get("MLRUN_GALLERY_RUNS", scratch))
        if not (folder / "train").exists():
            record(build / "bin" / "mlrun", folder)
        train, reads = mlrun_trace.open(folder / "train"), mlrun_trace.open_sweep(folder / "reads")
        _, begin, end = next(part for part in zoomed(train, "epoch"))
        pictures = {"timeline": (train, "timeline", {}), "epoch": (train, "timeline", {"from_ns": begin, "until_ns": end}), "latency": (train, "latency", {}),
                    "sizes": (train, "sizes", {"columns": 1, "by": "run"}), "steps": (train, "steps", {}), "scatter": (train, "scatter", {}),
                    "sweep": (reads, "sweep", {"figure": "wall_s", "parameter": "size"})}
        for name, (source, what, options) in pictures.items():
            for ending, dark in (("", False), ("-dark", True)) if not wanted or name in wanted else ():
                path = OUT / f"{name}{ending}.png"
                draw(source, what, path, Options(dark=dark, **options), data=False)
                small(path)
                print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
