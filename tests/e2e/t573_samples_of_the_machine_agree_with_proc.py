# SPDX-License-Identifier: Apache-2.0
"""Samples of the machine follow each other without a gap, their sums lie between what /proc/stat and /proc/pressure say
inside and around the run, and the processors are those that the command may use."""

import os
from pathlib import Path

from lib import case

TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
TIMES = {"user_ns": (0, 1), "system_ns": (2, 5, 6), "idle_ns": (3,), "iowait_ns": (4,), "steal_ns": (7,)}
PRESSURE = [("cpu", "some"), ("io", "some"), ("io", "full"), ("memory", "some"), ("memory", "full")]


def machine():
    ticks = list(map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:]))
    seen = {name: sum(ticks[i] for i in fields) * TICK_NS for name, fields in TIMES.items()}
    for resource, kind in PRESSURE:
        try:
            lines = Path(f"/proc/pressure/{resource}").read_text().splitlines()
        except OSError:
            continue
        [total] = [line.rpartition("total=")[2] for line in lines if line.startswith(kind)]
        seen[f"{resource}_{kind}_ns"] = int(total) * 1000
    return seen


def check(this):
    before = machine()
    trace = this.trace("sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; sleep 2.2")
    after = machine()
    rows = trace.rows("sample_machine")
    this.true("one a second", len(rows) >= 2, rows)
    for one, next_one in zip(rows, rows[1:]):
        this.equal("no gap", one["ts"] + one["dur"], next_one["ts"])
    for name in before:
        total = sum(row[name] for row in rows)
        this.true(f"{name}: no more than outside", 0 <= total <= after[name] - before[name], (total, before, after))
    for name in ("cpu_some_ns", "io_full_ns", "memory_some_ns"):
        this.equal(f"{name} is known where the kernel tells", rows[0][name] is not None, name in before)
    for row in rows:
        this.equal("busy", row["busy_ns"], row["user_ns"] + row["system_ns"])
        this.equal("processors", (row["cpus_online"], row["cpus_allowed"]),
                   (os.sysconf("SC_NPROCESSORS_ONLN"), len(os.sched_getaffinity(0))))
        this.true("running threads", row["running"] >= 1, row)
    covered = sum(row["dur"] for row in rows) * rows[0]["cpus_online"]
    seen = sum(sum(row[name] for name in TIMES) for row in rows)
    this.true("every processor's time is in one of them", abs(seen / covered - 1) < 0.1, (seen, covered))
    case.need_program("taskset")
    out = this.new_trace()
    first = min(os.sched_getaffinity(0))
    done = this.run("taskset", "-c", first, *this.command("sleep", "1.3", out=out))
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    this.equal("one processor alone", {row["cpus_allowed"] for row in this.opened(out).rows("sample_machine")}, {1})


if __name__ == "__main__":
    case.run(check)
