# SPDX-License-Identifier: Apache-2.0
"""In a guest with two nodes: each rung of --access against memory that is touched in a known way. What a kernel lacks has to be said.
Usage: access_check.py BUILD"""

import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.dataset

BUILD = Path(sys.argv[1])
MLRUN, TOUCHES = BUILD / "bin" / "mlrun", BUILD / "e2e" / "victims" / "touches"
FOLDER = Path(tempfile.mkdtemp())
MIB, PAGE = 1 << 20, 4096
IS_6_12 = platform.release().startswith("6.12")
failed = []


def expect(what, holds, shown=""):
    print("right" if holds else "WRONG", what, shown, flush=True)
    if not holds:
        failed.append(what)


class Run:
    def __init__(self, what, mib, seconds, access, before=("taskset", "1"), options=()):
        self.folder = Path(tempfile.mkdtemp()) / "trace"
        done = subprocess.run([MLRUN, "run", "--quiet", "-o", self.folder, "--sample=off", "--python-stacks=off", "--alloc-min", "64K", f"--access={access}", *options, "--",
                               *before, TOUCHES, what, str(mib), str(seconds)], capture_output=True, text=True, check=False)
        self.said = done.stderr
        lines = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
        if done.returncode != 0 or not lines:
            raise SystemExit(f"{what} by {access}: {done.returncode}\n{done.stderr}")
        (self.hot, self.cold, self.filled_ns), self.pages = lines[0], lines[-1][0]
        self.touches = lines[-1][-1]
        self.access = json.loads((self.folder / "run.json").read_text())["access"]
        self.facts = self.access["rungs"][0] if self.access["rungs"] else None
        self.bytes = mib * MIB

    def rows(self, table="access"):
        return pyarrow.dataset.dataset(self.folder / "tables" / table, format="parquet").to_table().to_pylist()

    def inside(self, start, rows=None):
        return [row for row in (self.rows() if rows is None else rows) if start <= row["addr"] < start + self.bytes]


def vmstat(name):
    return int(next(line.split()[1] for line in Path("/proc/vmstat").read_text().splitlines() if line.startswith(name + " ")))


def check_hint_faults():
    """Its memory is on the other node than its processor: each page gets hint faults, those of the untouched block do not."""
    for seconds in (25, 75, 200):  # on a busy host the kernel's scans are late
        before = vmstat("numa_hint_faults")
        run = Run("remote", 32, seconds, "hint-faults", before=())  # a policy would keep NUMA balancing away
        counted = vmstat("numa_hint_faults") - before
        rows = run.rows()
        again = [row for row in run.inside(run.hot, rows) if not row["is_first"]]
        cold = [row for row in run.inside(run.cold, rows) if not row["is_first"]]
        exact = [row for row in again if (row["addr"] - run.hot) // PAGE % 10 == 0]
        if len({row["addr"] // PAGE for row in exact}) >= run.pages * 0.98:
            break
    expect("hint faults: of touched pages alone", len(again) > 0 and len(exact) == len(again), f"{len(again)} in the touched block, the kernel counted {counted} in all")
    expect("none in the untouched block", not cold, len(cold))
    expect("each page that was touched", len({row["addr"] // PAGE for row in exact}) >= run.pages * 0.98, f"{len({row['addr'] // PAGE for row in exact})} of {run.pages} pages")
    expect("all joined with their block", all(row["block_addr"] == run.hot for row in again), "")
    print(run.facts["cost"], run.facts["lost"], run.facts["on_ns"] / max(run.facts["all_ns"], 1))


def check_policy():
    """Without a name hint faults are not chosen where the command's policy keeps NUMA balancing away; by name they are."""
    for options, reason in ((("--access", "--interleave", "0,1"), "NUMA balancing skips memory with a policy"), (("--access",), ""), (("--access=hint-faults", "--interleave", "0,1"), "")):
        folder = Path(tempfile.mkdtemp()) / "trace"
        subprocess.run([MLRUN, "run", "--quiet", "-o", folder, "--sample=off", *options, "--", "/bin/true"], check=True)
        access = json.loads((folder / "run.json").read_text())["access"]
        problems = [one["problem"] for one in access["tried"] if one["rung"] == "hint-faults"]
        chosen = [one["rung"] for one in access["rungs"]] == ["hint-faults"]
        expect(f"hint faults with {options}", len(problems) == 1 and problems[0].startswith(reason) and chosen == (reason == ""), (problems, chosen))


def with_windows(what, mib, rung, least=1):
    """A run with so many windows after its blocks were filled: on a busy host few fit."""
    for seconds in (25, 75, 200):
        run = Run(what, mib, seconds, rung)
        over = [row for row in run.rows() if row["addr"] < run.hot + run.bytes and row["addr"] + row["bytes"] > run.hot]
        windows = {row["ts"] for row in over if row["ts"] >= run.filled_ns and not row["filling"]}
        if len(windows) >= least:
            break
    print(f"{what} by {rung}: {len(windows)} windows in {seconds} s; longest call {run.facts['worst_stall_ns'] / 1e6:.2f} ms, predicted {run.facts['predicted_stall_ns'] / 1e6:.2f}")
    return run


def check_soft_dirty():
    run = with_windows("written", 64, "soft-dirty")
    windows = {}
    for row in run.inside(run.hot):
        windows.setdefault(row["ts"], []).append(row)
    steady = [rows for ts, rows in sorted(windows.items()) if ts >= run.filled_ns]
    for rows in steady[:2]:
        written = {page for row in rows if row["touched_bytes"] for page in range((row["addr"] - run.hot) // PAGE, (row["addr"] + row["bytes"] - run.hot) // PAGE)}
        wanted = set(range(0, run.bytes // PAGE, 3))
        expect("soft-dirty: the written pages, exactly", written == wanted, f"{len(written)} of {len(wanted)}")
    expect("soft-dirty: windows", len(steady) >= 1, len(windows))
    for seconds in (10, 40, 120):
        run = Run("growing", 64, seconds, "soft-dirty")
        rows = [row for row in run.inside(run.hot) if row["ts"] >= run.filled_ns]
        if rows:
            break
    expect("soft-dirty: nothing of a block is written when a page is mapped behind it", bool(rows) and not any(row["touched_bytes"] for row in rows), rows[:3])
    expect("it is unknown there", any(row["filling"] for row in rows), len(rows))


def mean_touched(run, start):
    rows = [row for row in run.rows() if row["addr"] <= start < row["addr"] + row["bytes"] and not row["filling"]]
    return [row["touched_bytes"] for row in rows]


HOT = 64 << 10  # what touches.c's `hot` touches


def check_bits():
    # Without a flush the bits of what stays in the TLB, which is large under emulation, are not set again: a program that drops its translations.
    for rung, what in (("cold", "random"), ("clear-refs", "turning")):
        run = with_windows(what, 32, rung)
        hot, cold = mean_touched(run, run.hot), mean_touched(run, run.cold)
        wanted = run.pages * PAGE
        expect(f"{rung}: random touches within 2 %", bool(hot) and all(abs(one - wanted) <= 0.02 * wanted + 64 * 1024 for one in hot), (hot, wanted))
        expect(f"{rung}: cold is 0", all(one == 0 for one in cold), cold)
    run = with_windows("hot", 16, "cold")
    hot = mean_touched(run, run.hot)
    expect("cold sees the hot set that stays in the TLB", bool(hot) and all(one >= 0.95 * 64 * 1024 for one in hot), hot)
    run = with_windows("hot", 16, "clear-refs")
    hot, cold = mean_touched(run, run.hot), mean_touched(run, run.cold)
    missing = sum(one < 0.95 * HOT for one in hot)
    expect("clear-refs has windows, and calls nothing but the hot set touched", bool(hot) and all(one <= HOT + 64 * 1024 for one in hot) and not any(cold), (hot, cold))
    expect("what it lacks of the hot set is named unseen", missing == 0 or "never leaves the TLB" in run.facts["blind_to"], f"{missing} of {len(hot)} windows lack some")


def aggregations(rows):
    """Rows of regions by window: the kernel writes those of one in a row, and then waits."""
    windows = []
    for row in sorted(rows, key=lambda row: row["ts"]):
        if not windows or row["ts"] - windows[-1][-1]["ts"] > 300_000_000:
            windows.append([])
        windows[-1].append(row)
    return windows


def hot_tenth(run):
    tenth = run.bytes // 10 // PAGE * PAGE
    return run.hot + tenth, run.hot + 2 * tenth


def damon_shares(run, low, high):
    """Of the bytes from low to high and of the rest of their block, the share that was called accessed: in the windows after the block was filled and its
    regions were found."""
    hit = hot = false = cold = 0
    windows = [rows for rows in aggregations(run.rows()) if rows[0]["ts"] >= run.filled_ns][2:-1]
    for row in (row for rows in windows for row in rows):
        start, end = max(row["addr"], run.hot), min(row["addr"] + row["bytes"], run.hot + run.bytes)
        inside = max(0, min(end, high) - max(start, low))
        if end <= start:
            continue
        hot, cold = hot + inside, cold + end - start - inside
        if row["count"] > 0:
            hit, false = hit + inside, false + end - start - inside
    return hit / max(hot, 1), false / max(cold, 1), len(windows)


def check_damon():
    if not IS_6_12:
        run = Run("turning", 64, 1, "damon")
        expect("no DAMON: said", "damon: " in run.access["problem"] and not run.access["rungs"], run.access["problem"])
        return
    for seconds in (20, 60, 150):
        run = Run("turning", 128, seconds, "damon")
        hit, false, windows = damon_shares(run, *hot_tenth(run))
        if windows >= 3:
            break
    expect("DAMON: at least 90 % of the hot tenth, at most 2 % of the rest", windows >= 3 and hit >= 0.9 and false <= 0.02,
           f"{100 * hit:.1f} % and {100 * false:.2f} % in {windows} windows; {run.touches} touches; started {run.facts['samples']} times")
    for seconds in (10, 30, 90):
        run = Run("hot", 16, seconds, "damon")
        hit, false, windows = damon_shares(run, run.hot, run.hot + HOT)
        if windows >= 2:
            break
    expect("DAMON has windows, and calls nothing but the hot set accessed", windows >= 2 and false <= 0.05, f"{100 * false:.2f} % of the rest in {windows} windows")
    expect("what it lacks of the hot set is named unseen", hit >= 0.9 or "never leaves the TLB" in run.facts["blind_to"], f"{100 * hit:.1f} % of the hot 64 KiB")


def check_processors():
    """A processor that goes offline during a run takes its events along, and more samples a second than the kernel allows are refused by name."""
    online = Path("/sys/devices/system/cpu/cpu1/online")
    process = subprocess.Popen([MLRUN, "run", "--quiet", "-o", FOLDER / "offline", "--sample=off", "--access=faults", "--", TOUCHES, "random", "4", "8"],
                               stdout=subprocess.DEVNULL)
    time.sleep(4)
    online.write_text("0", encoding="ascii")
    process.wait()
    online.write_text("1", encoding="ascii")
    problem = json.loads((FOLDER / "offline" / "run.json").read_text())["access"]["rungs"][0]["problem"]
    expect("a processor that has gone is said", "processors have come or gone" in problem, problem)
    Path("/proc/sys/kernel/perf_event_max_sample_rate").write_text("1000", encoding="ascii")
    done = subprocess.run([MLRUN, "run", "-o", FOLDER / "many", "--access=precise,2000,require", "--access-read-event=1cd", "--", "/bin/true"], capture_output=True, text=True, check=False)
    expect("too many samples are said", done.returncode == 125 and "perf_event_max_sample_rate is 1000" in done.stderr, done.stderr)


def main():
    Path("/proc/sys/kernel/numa_balancing").write_text("1", encoding="ascii")
    for tunable, value in (("scan_delay_ms", "100"), ("scan_period_min_ms", "100"), ("scan_size_mb", "256")):
        path = Path("/sys/kernel/debug/sched/numa_balancing") / tunable
        if path.exists():
            path.write_text(value, encoding="ascii")
    doctor = subprocess.run([MLRUN, "doctor"], capture_output=True, text=True, check=False).stdout
    print(doctor[doctor.index("accesses"):])
    for check in CHECKS:
        check()
    return 1 if failed else 0


CHECKS = (check_hint_faults, check_policy, check_soft_dirty, check_bits, check_damon, check_processors)


if __name__ == "__main__":
    sys.exit(main())
