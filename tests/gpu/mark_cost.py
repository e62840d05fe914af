#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a range costs: CPU nanoseconds of a push and a pop under mlrun beyond a handler that does nothing, in
interleaved runs. By hand: MLRUN_BUILD=build tests/gpu/mark_cost.py [ROUNDS]"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ.get("MLRUN_BUILD", "build")).resolve()
VICTIM = [str(BUILD / "gpu" / "victims" / "marks"), "cost", "20000"]


def cost(*prefix, **environment):
    done = subprocess.run([*prefix, *VICTIM], env=os.environ | environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    empty, recorded, off = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            off.append(cost())
            empty.append(cost(NVTX_INJECTION64_PATH=str(BUILD / "gpu" / "libempty_nvtx.so")))
            recorded.append(cost(str(BUILD / "bin" / "mlrun"), "--preload=marks", "--sample=off", "--lossless", "--quiet", "--defer-merge", "-o",
                                 f"{folder}/{number}", "--"))
    added = [a - b for a, b in zip(recorded, empty, strict=True)]
    print(json.dumps({"off_ns": statistics.median(off), "empty_handler_ns": statistics.median(empty),
                      "recorded_ns": statistics.median(recorded), "added_ns": statistics.median(added),
                      "added_least_ns": min(added), "added_most_ns": max(added), "rounds": rounds}))


if __name__ == "__main__":
    main()
