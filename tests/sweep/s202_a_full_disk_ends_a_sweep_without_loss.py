# SPDX-License-Identifier: Apache-2.0
"""The disk fills up while a sweep runs: it ends with 125 and says what to do, its database is whole, and resumed with room it makes
the runs that are missing and no other."""

import contextlib
import os
import subprocess
import sys

import kit
from kit import case

PLAN = """repetitions = 5
workloads = ["sort {file}", "sort -r {file}"]
pause = 0.02
[parameters]
file = ["/etc/passwd"]
""" + kit.THREE


def filled(this, sweep, leave_bytes):
    """Fills the disk once some runs are done, and waits for the end of the sweep; returns what it printed."""
    process = sweep.start(stderr=subprocess.PIPE, text=True)
    done_before = len(sweep.rows("SELECT 1 FROM run WHERE state = 'done'")) if (sweep.out / "sweep.sqlite").exists() else 0
    kit.wait_until(lambda: (sweep.out / "sweep.sqlite").exists()
                   and len(sweep.rows("SELECT 1 FROM run WHERE state = 'done'")) >= done_before + 5)
    with open(this.path("small/filler"), "wb", buffering=0) as filler:
        while process.poll() is None:  # a run that ends frees what it had
            room = os.statvfs(this.path("small"))
            with contextlib.suppress(OSError):
                filler.write(bytes(max(0, min(128 << 10, room.f_bavail * room.f_frsize - leave_bytes))))
    said = process.communicate(timeout=60)[1]
    this.equal("exit status on a full disk", process.returncode, 125, said=said)
    this.true("it says what to do", f"mlrun sweep --resume {sweep.out}" in said, said)
    this.equal("integrity", sweep.rows("PRAGMA integrity_check"), [("ok",)])
    this.path("small/filler").unlink()


def check_within(this):
    this.path("small").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", this.path("small")], check=True)
    sweep = kit.Sweep(this, PLAN, "small/out")
    filled(this, sweep, leave_bytes=1 << 20)
    filled(this, sweep, leave_bytes=0)
    sweep.run()
    sweep.expect_whole(30)


def check(this):
    case.need_mounts()
    done = subprocess.run(["unshare", "-m", sys.executable, "-B", __file__, "within"], check=False, timeout=200)
    this.equal("the case in its namespace", done.returncode, 0)


if __name__ == "__main__":
    case.run(check_within if "within" in sys.argv else check)
