# SPDX-License-Identifier: Apache-2.0
"""Checks with programs that launch kernels by CUDA's driver alone (hardware/), for `run`: what a launch costs beside a
minimal client of CUPTI, what is lost however a process ends, graphs, buffers that are too small, and which symbols the
driver gives out. They need no PyTorch, so that they can be tried with the stand-ins too (g316)."""

import csv
import io
import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median

LAUNCHES, ROUNDS, END_LAUNCHES, GRAPH_KERNELS = 200_000, 7, 5_000, 26_000_000
KINDS = "5,10,1,22,2,38,49,17,8,cuLaunch,cuGraphLaunch,cuMem"  # those that mlrun records; cupti/kinds.c
# What is recorded, from little to what mlrun does.
SETS = {"nothing": None, "calls and kernels": "5,10,cuLaunch", "and memory": "5,10,49,cuLaunch",
        "and synchronisation": "5,10,49,38,cuLaunch", "what mlrun records": KINDS}
COST_SHARE, OWN_NS = 1.2, 300
# After these nothing can be missing; after the others what CUPTI held is stated as a gap.
ORDERLY = ("return", "exit", "_exit", "atexit", "signal", "fork", "exec", "thread")
KILLED = ("abort", "SIGTERM", "SIGKILL")
SMALL_BYTES = 4096


class Programs:
    """The programs of a build, in an environment in which libcuda is found. `cupti`: the library that the minimal client
    loads; that which mlrun's own run had where it is None."""

    def __init__(self, build, folder, environment=None, cupti=None):
        self.launches, self.client = (build / "gpu" / "hardware" / name for name in ("launches", "libminimal_client.so"))
        self.mlrun, self.folder, self.traces = str(build / "bin" / "mlrun"), Path(folder), 0
        self.environment, self.cupti = dict(environment or os.environ), cupti

    def run(self, words, before=(), **more):
        """What the program wrote, or None, and what it said."""
        done = subprocess.run([*before, self.launches, *map(str, words)], capture_output=True, text=True, check=False,
                              env=self.environment | more)
        try:
            return json.loads(done.stdout), done.stderr[-2000:]
        except json.JSONDecodeError:
            return None, done.stderr[-2000:] or f"exit status {done.returncode}, and no result"

    def traced(self, words, *options):
        """Likewise under mlrun, and the trace's folder."""
        self.traces += 1
        trace = self.folder / f"driver-{self.traces}"
        before = [self.mlrun, "--cupti=require", "--preload=off", "--quiet", *options, "-o", str(trace), "--"]
        return *self.run(words, before), trace

    def counted(self, words, kinds, buffer_bytes=1 << 20):
        """Likewise with the minimal client, and what that counted."""
        out = self.folder / "minimal.json"
        out.unlink(missing_ok=True)
        ran, said = self.run(words, CUDA_INJECTION64_PATH=str(self.client), MINIMAL_CUPTI=self.cupti, MINIMAL_KINDS=kinds,
                             MINIMAL_BYTES=str(buffer_bytes), MINIMAL_OUT=str(out))
        return ran, said, json.loads(out.read_text()) if out.exists() else None

    def rows(self, trace, table):
        done = subprocess.run([self.mlrun, "show", "--csv", trace, table], capture_output=True, text=True, check=False)
        return list(csv.DictReader(io.StringIO(done.stdout)))


def facts(trace):
    path = trace / "run.json"
    return json.loads(path.read_text()) if path.exists() else {}


def check_cost(programs, launches, rounds):
    """Times of a launch in turns: alone, with more and more recorded by the minimal client, and with mlrun."""
    seen = {name: [] for name in (*SETS, "mlrun")}
    for _ in range(rounds):
        for name, kinds in SETS.items():
            ran, said = programs.run(["loop", launches]) if kinds is None else programs.counted(["loop", launches], kinds)[:2]
            if ran is None:
                return {"reason": f"{name}: {said}", "agrees": False}
            seen[name].append(ran["ns_per_launch"])
        ran, said, _ = programs.traced(["loop", launches], "--defer-merge")
        if ran is None:
            return {"reason": "mlrun: " + said, "agrees": False}
        seen["mlrun"].append(ran["ns_per_launch"])
    shares = [ours / least for ours, least in zip(seen["mlrun"], seen["what mlrun records"], strict=True)]
    own_ns = [ours - least for ours, least in zip(seen["mlrun"], seen["what mlrun records"], strict=True)]
    return {"ns_per_launch": {name: median(values) for name, values in seen.items()}, "all": seen, "rounds": rounds,
            "share_of_minimal_client": median(shares), "own_ns": median(own_ns), "most": [COST_SHARE, OWN_NS],
            "agrees": median(shares) <= COST_SHARE and median(own_ns) <= OWN_NS}


def check_end(programs, how, launches):
    ran, said, trace = programs.traced(["end", launches, how])
    if ran is None:
        return {"reason": said, "agrees": False}
    kernels, calls = (len(programs.rows(trace, table)) for table in ("gpu_kernel", "gpu_api"))
    gaps = [row["reason"] for row in programs.rows(trace, "loss")]
    told = {"launches": ran["launches"], "kernels": kernels, "calls": calls, "losses": gaps}
    if how in KILLED:
        return told | {"agrees": kernels <= ran["launches"] and (kernels == ran["launches"] or bool(gaps))}
    return told | {"agrees": kernels == ran["launches"] and not gaps}


def check_graph(programs, kernels):
    """Many nodes: those that are rows, and those that were added up, are all that were launched."""
    ran, said, trace = programs.traced(["graph", kernels])
    if ran is None:
        return {"reason": said, "agrees": False}
    work = facts(trace).get("gpu_work", {})
    launched, rows = ran["launches"] * ran["nodes"], work.get("rows", {})
    losses = programs.rows(trace, "loss")
    return {"launched": launched, "rows": rows, "folded_nodes": work.get("folded_nodes"), "losses": losses,
            "agrees": rows.get("kernel", 0) + work.get("folded_nodes", 0) == launched and not losses}


def check_small_buffers(programs, launches):
    """What CUPTI says that it dropped, and what it handed over, are together what was launched."""
    ran, said, counted = programs.counted(["loop", launches], "10", SMALL_BYTES)
    if ran is None or counted is None:
        return {"reason": said, "agrees": False}
    return {"launches": ran["launches"], "minimal_client": counted,
            "agrees": counted.get("10", 0) + counted["dropped"] == ran["launches"]}


def check_symbols(programs):
    """Probes on exports see a call that goes through cuGetProcAddress where both are the same."""
    ran, said = programs.run(["symbols", 1])
    return {"reason": said, "agrees": False} if ran is None else ran | {"agrees": None}


def driver_checks(build, environment=None, cupti=None, launches=LAUNCHES, rounds=ROUNDS, end_launches=END_LAUNCHES,
                  graph_kernels=GRAPH_KERNELS):
    """Checks by name, each with what was seen and whether it agrees (None: nothing is expected)."""
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(build, folder, environment, cupti)
        ran, said, trace = programs.traced(["end", 100, "return"])
        libraries = facts(trace).get("gpu_work", {}).get("libraries", [])
        if ran is None or not libraries:
            return {"driver_programs": {"reason": said or "mlrun recorded no GPU work", "agrees": False}}
        programs.cupti = programs.cupti or libraries[0]["file"]
        return {
            "libcupti_that_is_used": {"libraries": libraries, "agrees": len(libraries) == 1},
            "cost_of_a_launch_by_the_driver": check_cost(programs, launches, rounds),
            **{f"end_by_{how}": check_end(programs, how, end_launches) for how in (*ORDERLY, *KILLED)},
            "many_nodes_of_graphs": check_graph(programs, graph_kernels),
            "buffers_that_are_too_small": check_small_buffers(programs, launches),
            "symbols_of_the_driver": check_symbols(programs),
        }
