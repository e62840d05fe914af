# SPDX-License-Identifier: Apache-2.0
"""Checks of GPU work on a machine with a GPU and PyTorch, for `run`: what mlrun records beside what torch.profiler does,
whether kernels begin after their calls, what a launch costs more, and whether torch.profiler goes on inside mlrun."""

import collections
import csv
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from feature_checks import feature_checks

STEPS, LAUNCHES = 50, 100_000
# Steps of work with a fixed seed; with "profile" told by torch.profiler as well. Then launches of a small kernel.
PROGRAM = """
import collections, json, sys, time
import torch
steps, launches, profile = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "profile"
torch.manual_seed(1)
a = torch.randn(1024, 1024, device="cuda")
b = torch.randn(1024, 1024).pin_memory()
small = torch.zeros(16, device="cuda")
def work():
    global a
    for _ in range(steps):
        a = torch.relu(a @ b.to("cuda", non_blocking=True)).clamp(-1, 1)
        torch.cuda.synchronize()
out = {}
if profile:
    profiled_ns = [time.monotonic_ns()]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as told:
        profiled_ns.append(time.monotonic_ns())
        work()
        profiled_ns.append(time.monotonic_ns())
    counts, times = collections.Counter(), collections.Counter()
    for event in told.events():
        if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith(("Memcpy", "Memset")):
            counts[event.name] += 1
            times[event.name] += event.time_range.elapsed_us()
    out = {"counts": counts, "time_us": sum(times.values()), "profiled_ns": profiled_ns}
else:
    work()
torch.cuda.synchronize()
start = time.thread_time()
for _ in range(launches):
    small.add_(1)
out["ns_per_launch"] = (time.thread_time() - start) / max(launches, 1) * 1e9
torch.cuda.synchronize()
print(json.dumps(out))
"""


def has_torch():
    try:
        return subprocess.run([sys.executable, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True,
                              check=False).returncode == 0
    except OSError:
        return False


def program(words, before=()):
    done = subprocess.run([*before, sys.executable, "-c", PROGRAM, *map(str, words)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return None, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


class Trace:
    """A program traced with --cupti."""

    def __init__(self, mlrun, folder, words):
        self.mlrun, self.folder = mlrun, Path(folder) / f"trace-{'-'.join(map(str, words))}"
        self.out, self.error = program(words, [mlrun, "--cupti=require", "--preload=off", "--quiet", "-o", self.folder, "--"])

    def rows(self, table):
        done = subprocess.run([self.mlrun, "show", "--csv", self.folder, table], capture_output=True, text=True, check=False)
        return list(csv.DictReader(io.StringIO(done.stdout)))


def starts(calls, kernels):
    """How many kernels begin in their call or later, and by how much the earliest is too early. Only times that needed no
    repair count: one that was put right stands where it does no harm."""
    begin = {row["correlation_id"]: int(row["ts"]) for row in calls}
    late = [int(row["ts"]) - begin[row["correlation_id"]] for row in kernels if row["correlation_id"] in begin]
    if not late:
        return {"kernels": len(kernels), "agrees": False}
    good = sum(at >= 0 for at in late) / len(late)
    clocks = collections.Counter(row["clock"] for row in kernels)
    return {"kernels": len(kernels), "joined": len(late), "share_after_call": good, "earliest_ns": min(late),
            "clocks": clocks, "agrees": len(late) == len(kernels) and good >= 0.9999 and min(late) >= -10_000
                                        and clocks["monotonic"] >= 0.9999 * len(kernels)}


def covered(gaps, out, kernels):
    """One gap: it begins while the profiler starts, before the profiled steps, and ends after them; no kernel is told of in
    it. A trace's times are the monotonic clock's."""
    first, last = (int(gaps[0][key]) for key in ("first", "last")) if len(gaps) == 1 else (0, 0)
    asked, begin, end = out["profiled_ns"]
    inside = sum(first < int(row["ts"]) < last for row in kernels)
    return {"rows": gaps, "profiled_ns": out["profiled_ns"], "kernels_inside": inside,
            "agrees": len(gaps) == 1 and asked <= first <= begin and last >= end and inside == 0}


def counts(profiled, kernels):
    ours = collections.Counter(row["name"] for row in kernels)
    time_us = sum(int(row["dur"]) for row in kernels) / 1000
    differing = {name: [ours[name], profiled["counts"].get(name, 0)] for name in {*ours, *profiled["counts"]}
                 if ours[name] != profiled["counts"].get(name, 0)}
    return {"names": len(ours), "differing": differing, "time_us": [time_us, profiled["time_us"]],
            "agrees": not differing and abs(time_us - profiled["time_us"]) <= 0.03 * profiled["time_us"]}


def work_checks(build):
    """Checks by name, each with what was seen and whether it agrees (None: not tried)."""
    if not has_torch():
        return {"gpu_work": {"reason": "no PyTorch with CUDA here", "agrees": None}}
    mlrun = str(build / "bin" / "mlrun")
    with tempfile.TemporaryDirectory() as folder:
        profiled, error = program([STEPS, 0, "profile"])
        traced = Trace(mlrun, folder, [STEPS, 0, "plain"])
        both = Trace(mlrun, folder, [STEPS, 0, "profile"])
        plain_loop, _ = program([0, LAUNCHES, "plain"])
        traced_loop = Trace(mlrun, folder, [0, LAUNCHES, "plain"])
        if not (profiled and traced.out and both.out and plain_loop and traced_loop.out):
            return {"gpu_work": {"reason": [error, traced.error, both.error, traced_loop.error], "agrees": False}}
        run = json.loads((traced.folder / "run.json").read_text())
        taken = [row for row in both.rows("loss") if "another client" in row["reason"]]
        return {
            "kernels_begin_in_their_calls": starts(traced.rows("gpu_api"), traced.rows("gpu_kernel")),
            "kernels_as_torch_profiler_counts": counts(profiled, traced.rows("gpu_kernel")),
            "torch_profiler_inside_mlrun": {"agrees": both.out["counts"] == profiled["counts"]},
            "gap_of_torch_profiler": covered(taken, both.out, both.rows("gpu_kernel")),
            "nothing_lost": {"losses": run["losses"], "gpu_work": run["gpu_work"],
                             "agrees": all(row["unit"] == "ns" for row in run["losses"])},
            "cost_of_a_launch": {"ns": [plain_loop["ns_per_launch"], traced_loop.out["ns_per_launch"]],
                                 "kernels": len(traced_loop.rows("gpu_kernel")), "agrees": None},
            **feature_checks(mlrun, folder),
        }
