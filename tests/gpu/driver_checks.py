# SPDX-License-Identifier: Apache-2.0
"""Checks with programs that launch kernels by CUDA's driver alone (hardware/), for `run`: what a launch costs beside a
minimal client of CUPTI, what is lost however a process ends, graphs, buffers that are too small, and which symbols the
driver returns. They need no PyTorch, so that they also run with the mocks (g316)."""

import json
import os
import shutil
from pathlib import Path
from statistics import median

import checking
from checking import HELD, PROGRAM_S, last_line, ran, real_losses

LAUNCHES, ROUNDS, END_LAUNCHES, GRAPH_KERNELS = 200_000, 7, 5_000, 26_000_000
SECOND_S = 60
GRAPH_S = 300  # a few microseconds each, and what mlrun makes of them
KINDS = "5,10,1,22,2,38,49,17,8,cuLaunch,cuGraphLaunch,cuMem,cuCtxSynchronize,cuStreamSynchronize,cuEventSynchronize"  # those that mlrun records; cupti/kinds.c
# What is recorded, from little to what mlrun does.
SETS = {"nothing": None, "calls and kernels": "5,10,cuLaunch", "and memory": "5,10,49,cuLaunch",
        "and synchronisation": "5,10,49,38,cuLaunch", "what mlrun records": KINDS}
COST_SHARE, OWN_NS = 1.2, 300
# After these nothing can be missing; after the others what CUPTI held is stated as a gap.
ORDERLY = ("return", "exit", "_exit", "atexit", "signal", "fork", "fork_exit", "exec", "thread")
KILLED = ("abort", "SIGTERM", "SIGKILL")
SMALL_BYTES, SMALL_DEVICE_BYTES = 4096, 64 << 10


class Programs:
    """The programs of a build, in an environment in which libcuda is found. `cupti`: the library that the minimal client
    loads; None: the one that mlrun's own run used. `wheels`: libraries to name to mlrun, one after the other, where
    it finds none by itself: a program without PyTorch does not look into PyTorch's folders."""

    def __init__(self, build, folder, environment=None, cupti=None, wheels=()):
        self.launches, self.client = (build / "gpu" / "hardware" / name for name in ("launches", "libminimal_client.so"))
        self.mlrun, self.folder, self.traces = str(build / "bin" / "mlrun"), Path(folder), 0
        self.environment, self.cupti, self.wheels = dict(environment or os.environ), cupti, wheels

    def run(self, words, before=(), seconds=PROGRAM_S, **more):
        """What the program wrote, or None, and what it said. One that was killed has written before that."""
        done = ran([*before, self.launches, *words], self.environment | more, seconds)
        try:
            return json.loads(done.stdout), done.stderr[-2000:]
        except json.JSONDecodeError:
            return None, last_line(done)[1]

    def traced(self, words, *options, **more):
        """The same under mlrun, and the trace's folder."""
        self.traces += 1
        trace = self.folder / f"driver-{self.traces}"
        before = [self.mlrun, "--cupti=require", "--preload=off", "--sample=off", "--quiet", *options, "-o", str(trace), "--"]
        return *self.run(words, before, **more), trace

    def counted(self, words, kinds, buffer_bytes=1 << 20, **more):
        """The same with the minimal client, and its counts."""
        if not self.cupti:
            return None, "mlrun recorded no GPU work, so it is not known which libcupti to take", None
        out = self.folder / "minimal.json"
        out.unlink(missing_ok=True)
        done, said = self.run(words, CUDA_INJECTION64_PATH=str(self.client), MINIMAL_CUPTI=self.cupti, MINIMAL_KINDS=kinds,
                              MINIMAL_BYTES=str(buffer_bytes), MINIMAL_OUT=str(out), **more)
        return done, said, json.loads(out.read_text()) if out.exists() else None

    def rows(self, trace, table):
        return checking.rows(self.mlrun, trace, table)


def facts(trace):
    path = trace / "run.json"
    return json.loads(path.read_text()) if path.exists() else {}


def check_cost(programs, launches, rounds):
    """Times of a launch in turns: alone, with more and more recorded by the minimal client, and with mlrun."""
    seen = {name: [] for name in (*SETS, "mlrun")}
    for _ in range(rounds):
        for name, kinds in SETS.items():
            done, said = programs.run(["loop", launches]) if kinds is None else programs.counted(["loop", launches], kinds)[:2]
            if done is None:
                return {"reason": f"{name}: {said}", "agrees": False}
            seen[name].append(done["ns_per_launch"])
        done, said, _ = programs.traced(["loop", launches], "--defer-merge")
        if done is None:
            return {"reason": "mlrun: " + said, "agrees": False}
        seen["mlrun"].append(done["ns_per_launch"])
    shares = [ours / least for ours, least in zip(seen["mlrun"], seen["what mlrun records"], strict=True)]
    own_ns = [ours - least for ours, least in zip(seen["mlrun"], seen["what mlrun records"], strict=True)]
    return {"ns_per_launch": {name: median(values) for name, values in seen.items()}, "all": seen, "rounds": rounds,
            "share_of_minimal_client": median(shares), "own_ns": median(own_ns), "most": [COST_SHARE, OWN_NS],
            "agrees": median(shares) <= COST_SHARE and median(own_ns) <= OWN_NS}


def judged_end(how, described):
    """Nothing may be missing after an orderly end. After another end, what CUPTI still held is missing, and `loss` says so."""
    losses = real_losses(described["losses"])
    if how not in KILLED:
        return described["kernels"] == described["launches"] and not losses
    is_said = any(row["reason"] == HELD for row in losses)
    return described["kernels"] <= described["launches"] and is_said and all(row["reason"] == HELD for row in losses)


def check_end(programs, how, launches):
    done, said, trace = programs.traced(["end", launches, how])
    if done is None:
        return {"reason": said, "agrees": False}
    kernels, calls = (len(programs.rows(trace, table)) for table in ("gpu_kernel", "gpu_api"))
    described = {"launches": done["launches"], "kernels": kernels, "calls": calls, "losses": programs.rows(trace, "loss")}
    return described | {"agrees": judged_end(how, described)}


def check_graph(programs, kernels):
    """Many nodes: rows and folded nodes add up to the launched ones."""
    done, said, trace = programs.traced(["graph", kernels], seconds=GRAPH_S)
    if done is None:
        return {"reason": said, "agrees": False}
    work = facts(trace).get("gpu_work", {})
    launched, rows = done["launches"] * done["nodes"], work.get("rows", {})
    losses = programs.rows(trace, "loss")
    return {"launched": launched, "rows": rows, "folded_nodes": work.get("folded_nodes"), "losses": losses,
            "agrees": rows.get("kernel", 0) + work.get("folded_nodes", 0) == launched and not real_losses(losses)}


def check_small_buffers(programs, launches, **more):
    """CUPTI's dropped and delivered records add up to the launches."""
    done, said, counted = programs.counted(["loop", launches], "10", SMALL_BYTES, **more)
    if done is None or counted is None:
        return {"reason": said, "agrees": False}
    return {"launches": done["launches"], "minimal_client": counted, "said": said,
            "agrees": counted.get("10", 0) + counted["dropped"] == done["launches"]}


def check_instances(programs):
    """The library is preloaded, and the driver gets its path: it is loaded once."""
    done, said, _ = programs.traced(["maps", 1])
    return {"reason": said, "agrees": False} if done is None else done | {"agrees": done["instances"] == 1}


def check_two_libraries(programs, launches, kinds="10"):
    """A second copy of libcupti in the process, with a client of its own: mlrun has every kernel, or says what is missing. A client
    that CUPTI or the driver does not accept is reported (`said`), and is no fault."""
    if not programs.cupti:
        return {"reason": "mlrun recorded no GPU work, so there is no libcupti to copy", "agrees": False}
    folder = programs.folder / "second"
    folder.mkdir(exist_ok=True)
    copy, out = folder / Path(programs.cupti).name, folder / "minimal.json"
    shutil.copy(programs.cupti, copy)
    done, said, trace = programs.traced(["end", launches, "return"], LAUNCHES_CLIENT=str(programs.client),
                                        MINIMAL_CUPTI=str(copy), MINIMAL_KINDS=kinds, MINIMAL_OUT=str(out), seconds=SECOND_S)
    if done is None:
        return {"reason": said, "agrees": False}
    kernels, losses = len(programs.rows(trace, "gpu_kernel")), programs.rows(trace, "loss")
    return {"launches": done["launches"], "kernels": kernels, "losses": losses, "said": said,
            "second_client": json.loads(out.read_text()) if out.exists() else None,
            "agrees": kernels == done["launches"] or (kernels < done["launches"] and bool(real_losses(losses)))}


def check_symbols(programs):
    """Probes on exports see a call that goes through cuGetProcAddress where both are the same."""
    done, said = programs.run(["symbols", 1])
    return {"reason": said, "agrees": False} if done is None else done | {"agrees": None}


def check_library(programs):
    """The libcupti that mlrun uses for a program of the driver API; if it finds none, one is named."""
    tried = []
    for named in (None, *programs.wheels):
        more = {"MLRUN_CUPTI": named} if named else {}
        done, said, trace = programs.traced(["end", 100, "return"], **more)
        libraries = facts(trace).get("gpu_work", {}).get("libraries", [])
        if done is not None and libraries:
            programs.environment |= more
            programs.cupti = programs.cupti or libraries[0]["file"]
            return {"named_to_mlrun": named, "libraries": libraries, "tried_before": tried, "agrees": len(libraries) == 1}
        tried.append([named, said or "mlrun recorded no GPU work"])
    return {"reason": tried, "agrees": False}


def driver_checks(programs, launches=LAUNCHES, rounds=ROUNDS, end_launches=END_LAUNCHES):
    """Checks for checking.Report; the first one finds the libcupti for the others."""
    return [
        ("libcupti_that_is_used", lambda: check_library(programs)),
        *((f"end_by_{how}", lambda how=how: check_end(programs, how, end_launches)) for how in (*ORDERLY, *KILLED)),
        ("injected_library_is_there_once", lambda: check_instances(programs)),
        ("buffers_that_are_too_small", lambda: check_small_buffers(programs, launches)),
        ("buffers_of_the_gpu_that_are_too_small",
         lambda: check_small_buffers(programs, launches, MINIMAL_DEVICE_BYTES=str(SMALL_DEVICE_BYTES))),
        ("symbols_of_the_driver", lambda: check_symbols(programs)),
        ("cost_of_a_launch_by_the_driver", lambda: check_cost(programs, launches, rounds)),
    ]


def last_checks(programs, end_launches=END_LAUNCHES, graph_kernels=GRAPH_KERNELS):
    """Checks that may hang, and the one that takes the remaining time: they come last. They require driver_checks."""
    return [
        ("two_libcupti", lambda: check_two_libraries(programs, end_launches)),
        ("many_nodes_of_graphs", lambda: check_graph(programs, graph_kernels)),
    ]
