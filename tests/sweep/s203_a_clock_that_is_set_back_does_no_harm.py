# SPDX-License-Identifier: Apache-2.0
"""The real-time clock is set back by an hour in the middle of a sweep, and the sweep is killed and resumed besides: all runs are
there once, with durations that are true."""

import os
import subprocess

import kit
from kit import case

LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
PLAN = """repetitions = 5
workloads = ["sleep {s}", "sh -c 'sleep {s}'"]
[parameters]
s = ["0.05"]
""" + kit.THREE


def check(this):
    if not os.path.exists(LIBRARY):
        raise case.Skip("needs libfaketime")
    clock = this.path("clock")
    clock.write_text("+0\n")
    this.environment |= {"LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1",
                         "DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
    sweep = kit.Sweep(this, PLAN)
    process = sweep.start()
    kit.wait_until(lambda: (sweep.out / "sweep.sqlite").exists() and len(sweep.rows("SELECT 1 FROM run WHERE state = 'done'")) > 5)
    clock.write_text("-3600\n")
    kit.wait_until(lambda: len(sweep.rows("SELECT 1 FROM run WHERE state = 'done'")) > 12)
    kit.kill(sweep, process, False)
    sweep.run()
    sweep.expect_whole(30)
    for name in ("dry", "full", "calls"):
        walls = sweep.figure("wall_s", name)
        this.true(f"durations of {name}", all(0.05 <= wall < 30 for wall in walls), walls)
    del this.environment["LD_PRELOAD"]
    plain = subprocess.run(["date", "+%s"], env=this.environment | {"LD_PRELOAD": LIBRARY}, capture_output=True, check=True)
    true = subprocess.run(["date", "+%s"], capture_output=True, check=True)
    this.true("the clock was an hour behind", 3500 < int(true.stdout) - int(plain.stdout) < 3700, (plain, true))


if __name__ == "__main__":
    case.run(check)
