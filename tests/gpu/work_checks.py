# SPDX-License-Identifier: Apache-2.0
"""Checks of GPU work on a machine with a GPU and PyTorch, for `run`: what mlrun records beside what torch.profiler does,
whether kernels begin after their calls, the added cost of a launch, and whether torch.profiler works inside mlrun."""

import collections
import json
import sys
from pathlib import Path

import checking
from checking import ANOTHER, SLACK_NS, last_line, ran, real_losses, spoilt, within

STEPS, LAUNCHES = 50, 100_000
EARLIEST_NS = -10_000
# Steps of work with a fixed seed, and their times. With "profile", torch.profiler records them too, and as many steps follow its
# session, after a pause, to check that mlrun has CUPTI again. Then launches of a small kernel.
PROGRAM = """
import collections, json, sys, time
import torch
steps, launches, profile = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "profile"
torch.manual_seed(1)
a = torch.randn(1024, 1024, device="cuda")
b = torch.randn(1024, 1024).pin_memory()
small = torch.zeros(16, device="cuda")
torch.cuda.synchronize()
def work():
    global a
    times = [time.monotonic_ns()]
    for _ in range(steps):
        a = torch.relu(a @ b.to("cuda", non_blocking=True)).clamp(-1, 1)
        torch.cuda.synchronize()
    return times + [time.monotonic_ns()]
out = {}
if profile:
    asked = time.monotonic_ns()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as session:
        work_ns = work()
    counts, times = collections.Counter(), collections.Counter()
    for event in session.events():
        if event.device_type == torch.autograd.DeviceType.CUDA and not event.name.startswith(("Memcpy", "Memset")):
            counts[event.name] += 1
            times[event.name] += event.time_range.elapsed_us()
    out = {"counts": counts, "time_us": sum(times.values()), "asked_ns": asked}
    time.sleep(4)
    out["after_ns"] = work()
else:
    work_ns = work()
out["work_ns"] = work_ns
start = time.thread_time()
for _ in range(launches):
    small.add_(1)
out["ns_per_launch"] = (time.thread_time() - start) / max(launches, 1) * 1e9
torch.cuda.synchronize()
print(json.dumps(out))
"""


def has_torch():
    """Where that cannot be found out in time, it is left to the checks to say so."""
    try:
        return ran([sys.executable, "-c", "import torch; assert torch.cuda.is_available()"]).returncode == 0
    except TimeoutError:
        return True


def program(words, before=()):
    return last_line(ran([*before, sys.executable, "-c", PROGRAM, *words]))


def starts(calls, kernels):
    """How many kernels begin in their call or later, and by how much the earliest is too early. Repaired times are left out: they
    were moved to a place that is always right."""
    begin = {row["correlation_id"]: int(row["ts"]) for row in calls}
    late = [int(row["ts"]) - begin[row["correlation_id"]] for row in kernels if row["correlation_id"] in begin]
    if not late:
        return {"kernels": len(kernels), "agrees": False}
    good = sum(at >= 0 for at in late) / len(late)
    clocks = collections.Counter(row["clock"] for row in kernels)
    return {"kernels": len(kernels), "joined": len(late), "share_after_call": good, "earliest_ns": min(late),
            "clocks": clocks, "agrees": len(late) == len(kernels) and good >= 0.9999 and min(late) >= EARLIEST_NS
                                        and clocks["monotonic"] >= 0.9999 * len(kernels)}


def covered(gaps, out, kernels):
    """Checks that one gap covers exactly the profiled steps: it begins while the profiler starts, before these steps, and ends between
    them and the steps that follow. The gap has no kernel; the steps after it have all theirs. Times are CLOCK_MONOTONIC's."""
    first, last = (int(gaps[0][key]) for key in ("first", "last")) if len(gaps) == 1 else (0, 0)
    begin, end = out["work_ns"]
    inside = sum(first < int(row["ts"]) < last for row in kernels)
    after = len(within(kernels, out["after_ns"], SLACK_NS))
    wanted, wrong = sum(out["counts"].values()), spoilt(kernels, 1)
    return {"rows": gaps, "asked_ns": out["asked_ns"], "work_ns": out["work_ns"], "after_ns": out["after_ns"],
            "kernels_inside": inside, "kernels_after": [after, wanted], "kernels_spoilt": wrong,
            "agrees": len(gaps) == 1 and out["asked_ns"] <= first <= begin and end <= last <= out["after_ns"][0]
                      and inside == 0 and 0 < wanted - wrong <= after <= wanted}


def counts(profiled, kernels):
    """Kernels by name, in the steps alone, and the time that they took."""
    ours = collections.Counter(row["name"] for row in kernels)
    time_us = sum(int(row["dur"]) for row in kernels) / 1000
    differing = {name: [ours[name], profiled["counts"].get(name, 0)] for name in {*ours, *profiled["counts"]}
                 if ours[name] != profiled["counts"].get(name, 0)}
    return {"names": len(ours), "differing": differing, "time_us": [time_us, profiled["time_us"]],
            "agrees": bool(ours) and not differing and abs(time_us - profiled["time_us"]) <= 0.03 * profiled["time_us"]}


class Runs:
    """Runs of the program, each made when it is first asked for; of one that failed, why."""

    def __init__(self, mlrun, folder):
        self.mlrun, self.folder, self.made = mlrun, Path(folder), {}

    def get(self, name, words, is_traced):
        if name not in self.made:
            trace = self.folder / f"work-{name}"
            before = [self.mlrun, "--cupti=require", "--preload=off", "--sample=off", "--quiet", "-o", trace, "--"] if is_traced else ()
            out, said = program(words, before)
            if out is None:
                raise RuntimeError(f"{name}: {said}")
            self.made[name] = (out, trace)
        return self.made[name]

    def profiled(self):
        return self.get("profiled", [STEPS, 0, "profile"], False)[0]

    def traced(self):
        return self.get("traced", [STEPS, 0, "plain"], True)

    def both(self):
        return self.get("both", [STEPS, 0, "profile"], True)

    def plain_loop(self):
        return self.get("plain_loop", [0, LAUNCHES, "plain"], False)[0]

    def traced_loop(self):
        return self.get("traced_loop", [0, LAUNCHES, "plain"], True)

    def rows(self, trace, table):
        return checking.rows(self.mlrun, trace, table)


def check_starts(runs):
    """Of the steps and of many launches: one in ten thousand is to be seen."""
    out = {}
    for name, trace in (("steps", runs.traced()[1]), ("launches", runs.traced_loop()[1])):
        out[name] = starts(runs.rows(trace, "gpu_api"), runs.rows(trace, "gpu_kernel"))
    return out | {"agrees": all(seen["agrees"] for seen in out.values()) and out["launches"]["kernels"] >= LAUNCHES}


def check_counts(runs):
    out, trace = runs.traced()
    return counts(runs.profiled(), within(runs.rows(trace, "gpu_kernel"), out["work_ns"]))


def check_profiler(runs):
    ours, alone = runs.both()[0]["counts"], runs.profiled()["counts"]
    return {"inside_mlrun": ours, "without": alone, "agrees": ours == alone and bool(alone)}


def check_gap(runs):
    out, trace = runs.both()
    gaps = [row for row in runs.rows(trace, "loss") if row["reason"] == ANOTHER]
    return covered(gaps, out, runs.rows(trace, "gpu_kernel"))


def check_losses(runs):
    reported = {name: runs.rows(trace, "loss") for name, trace in (("steps", runs.traced()[1]), ("launches", runs.traced_loop()[1]))}
    work = json.loads((runs.traced()[1] / "run.json").read_text())["gpu_work"]
    return {"losses": reported, "gpu_work": work, "agrees": not any(real_losses(losses) for losses in reported.values())}


def check_launch(runs):
    out, trace = runs.traced_loop()
    return {"ns": [runs.plain_loop()["ns_per_launch"], out["ns_per_launch"]], "kernels": len(runs.rows(trace, "gpu_kernel")),
            "agrees": None}


def work_checks(mlrun, folder):
    """Checks for checking.Report."""
    runs = Runs(mlrun, folder)
    return [(name, lambda check=check: check(runs)) for name, check in (
        ("kernels_begin_in_their_calls", check_starts), ("kernels_as_torch_profiler_counts", check_counts),
        ("torch_profiler_inside_mlrun", check_profiler), ("gap_of_torch_profiler", check_gap),
        ("nothing_lost", check_losses), ("cost_of_a_launch", check_launch))]
