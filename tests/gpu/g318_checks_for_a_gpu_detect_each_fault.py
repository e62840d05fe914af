# SPDX-License-Identifier: Apache-2.0
"""The checks of `run` on small constructed traces and program outputs: correct ones agree, and each fault that the
checks look for does not. An exception in a check and a program that does not end are reported, and the rest continues;
the report is complete after each check."""

import importlib.machinery
import importlib.util
import json
import sys
import tarfile
import time
from pathlib import Path

import checking
from driver_checks import judged_end
from feature_checks import STEPS, copied, sessions
from lib import case
from work_checks import counts, covered, starts

MS = 1_000_000
HELD_ROW = {"reason": checking.HELD, "unit": "stretches"}
OWN_ROW = {"reason": checking.OWN_WORK + "buffer flush", "unit": "ns"}
OTHER_ROW = {"reason": "dropped by CUPTI for want of room", "unit": "records"}


def kernel(ts, name="k", dur=1000, call=1, clock="monotonic"):
    return {"ts": str(ts), "name": name, "dur": str(dur), "correlation_id": str(call), "clock": clock}


def agree(this, what, seen, wanted):
    this.equal(what, seen["agrees"], wanted, said=json.dumps(seen))


def check_starts(this):
    calls = [{"correlation_id": str(i), "ts": str(i * 1000)} for i in range(20_000)]
    kernels = [kernel(i * 1000 + 5, call=i) for i in range(20_000)]
    agree(this, "kernels behind their calls", starts(calls, kernels), True)
    early = [kernel(i * 1000 - (50 if i < 2 else -5), call=i) for i in range(20_000)]
    agree(this, "two of 20,000 a little early", starts(calls, early), True)
    early = [kernel(i * 1000 - (50 if i < 3 else -5), call=i) for i in range(20_000)]
    agree(this, "three of them", starts(calls, early), False)
    agree(this, "one by far", starts(calls, [kernel(100_000 - 11_000, call=100), *kernels[101:]]), False)
    agree(this, "one without its call", starts(calls[:-1], kernels), False)
    repaired = [kernel(i * 1000 + 5, call=i, clock="launch" if i < 3 else "monotonic") for i in range(20_000)]
    agree(this, "three that were put right", starts(calls, repaired), False)
    agree(this, "no kernel", starts(calls, []), False)


def check_counts(this):
    described = {"counts": {"a": 2, "b": 1}, "time_us": 3.0}
    right = [kernel(1, "a"), kernel(2, "a"), kernel(3, "b")]
    agree(this, "kernels as counted", counts(described, right), True)
    agree(this, "one too many", counts(described, [*right, kernel(4, "b")]), False)
    agree(this, "another name", counts(described, [*right[:2], kernel(3, "c")]), False)
    agree(this, "time 3 % off", counts(described, [*right[:2], kernel(3, "b", 1089)]), True)
    agree(this, "time 5 % off", counts(described, [*right[:2], kernel(3, "b", 1150)]), False)
    agree(this, "nothing at all", counts({"counts": {}, "time_us": 0}, []), False)
    stretch = [10 * MS, 20 * MS]
    this.equal("kernels of a stretch of time", checking.within([kernel(at * MS) for at in (9, 10, 15, 20, 21)], stretch),
               [kernel(at * MS) for at in (10, 15, 20)])


def check_gaps(this):
    out = {"asked_ns": 100 * MS, "work_ns": [200 * MS, 300 * MS], "after_ns": [4000 * MS, 4100 * MS], "counts": {"a": 2}}
    after = [kernel(4010 * MS), kernel(4020 * MS)]

    def gap(first, last):
        return [{"first": str(first * MS), "last": str(last * MS)}]

    agree(this, "a gap of those steps", covered(gap(150, 2000), out, [kernel(50 * MS), *after]), True)
    agree(this, "it begins too late", covered(gap(201, 2000), out, after), False)
    agree(this, "it begins before it was asked for", covered(gap(99, 2000), out, after), False)
    agree(this, "it ends too early", covered(gap(150, 299), out, after), False)
    agree(this, "it goes on into what follows", covered(gap(150, 4005), out, after), False)
    agree(this, "a kernel in it", covered(gap(150, 2000), out, [kernel(250 * MS), *after]), False)
    agree(this, "a kernel behind it is missing", covered(gap(150, 2000), out, after[:1]), False)
    spoilt = kernel(900 * MS, clock="outside")
    agree(this, "that one has a time that cannot be right", covered(gap(150, 800), out, [spoilt, *after[:1]]), True)
    agree(this, "two of them", covered(gap(150, 800), out, [spoilt, spoilt]), False)
    agree(this, "no gap", covered([], out, after), False)
    agree(this, "two gaps", covered(gap(150, 160) + gap(170, 2000), out, after), False)

    between = [[1000 * MS, 1100 * MS], [3000 * MS, 3100 * MS]]
    kernels = [kernel(begin + i * MS) for begin, _ in between for i in range(STEPS)]
    saw, gaps = {"first": STEPS, "second": STEPS}, gap(100, 500) + gap(2000, 2500)
    agree(this, "all between sessions", sessions(gaps, saw | {"between": between}, saw, kernels), True)
    agree(this, "one missing between them", sessions(gaps, saw | {"between": between}, saw, kernels[1:]), False)
    agree(this, "one missing behind them", sessions(gaps, saw | {"between": between}, saw, kernels[:-1]), False)
    agree(this, "and in `loss`", sessions(gaps, saw | {"between": between}, saw, [kernel(2600 * MS, clock="outside"), *kernels[:-1]]), True)
    agree(this, "one session without its gap", sessions(gaps[:1], saw | {"between": between}, saw, kernels), False)
    fewer = {"first": STEPS, "second": STEPS - 1}
    agree(this, "the profiler sees less", sessions(gaps, fewer | {"between": between}, saw, kernels), False)


def check_copies(this):
    def row(kind, memory="pinned", address="4096", size="100"):
        source, target = (memory, "device") if kind == "HtoD" else ("device", memory)
        return {"kind": kind, "source": source, "target": target, "bytes": size, "host_address": address}

    buffers = [{"address": 4096, "bytes": 100, "pinned": True}]
    right = [row("HtoD")] * STEPS + [row("DtoH")] * (STEPS // 2)
    agree(this, "host buffers", copied(buffers, right), True)
    agree(this, "one copy is missing", copied(buffers, right[1:]), False)
    agree(this, "one too many", copied(buffers, [*right, row("DtoH")]), False)
    agree(this, "nothing at all", copied([], []), False)
    for wrong in (row("HtoD", address=""), row("HtoD", address="8192"), row("HtoD", size="99"), row("HtoD", "pageable"), row("DtoH")):
        agree(this, f"one is {wrong}", copied(buffers, [wrong, *right[1:]]), False)


def check_ends(this):
    def judged(how, launches, kernels, *losses):
        return judged_end(how, {"launches": launches, "kernels": kernels, "losses": losses})

    this.equal("ends", [judged("return", 5, 5), judged("return", 5, 5, OWN_ROW), judged("SIGKILL", 5, 3, HELD_ROW, OWN_ROW)],
               [True] * 3)
    this.equal("faults", [judged("return", 5, 4), judged("return", 5, 5, HELD_ROW), judged("SIGKILL", 5, 3),
                          judged("SIGKILL", 5, 3, OWN_ROW), judged("SIGKILL", 5, 6, HELD_ROW),
                          judged("SIGKILL", 5, 3, HELD_ROW, OTHER_ROW)], [False] * 6)


def run_module():
    loader = importlib.machinery.SourceFileLoader("gpu_run", str(Path(__file__).parent / "run"))
    run = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_run", loader))
    loader.exec_module(run)
    return run


def check_where_a_gpu_is(this):
    """By what `mlrun doctor` says: a container may have the driver without its library for samples."""
    for samples, work, is_there in (("ok", "ok", True), ("ok", "less", True), ("-", "ok", True), ("-", "-", False)):
        build = this.path(f"doctor{samples}{work}")
        (build / "bin").mkdir(parents=True)
        (build / "bin" / "mlrun").write_text(f"#!/bin/sh\necho '{work}  GPU work  x'\necho '{samples}  GPU samples  y'\n", encoding="utf-8")
        (build / "bin" / "mlrun").chmod(0o755)
        found, problem = run_module().find_gpu(build)
        this.equal(f"samples {samples}, work {work}", (found, problem == ""), (is_there, samples == "ok"))


def check_older_libc(this):
    """The compiler's libraries of an archive are left out where mlrun does not start with them, and there alone."""
    library = checking.OF_COMPILER[0]
    for name, script in (("starts", "true"), ("fails", f'test ! -e "$(dirname "$0")/../lib/{library}"')):
        made, folder = this.path(name), this.path(name + "-unpacked")
        for file, text in (("bin/mlrun", f"#!/bin/sh\n{script}\n"), (f"lib/{library}", "")):
            (made / file).parent.mkdir(parents=True, exist_ok=True)
            (made / file).write_text(text, encoding="utf-8")
        (made / "bin" / "mlrun").chmod(0o755)
        with tarfile.open(this.path(name + ".tar.gz"), "w:gz") as packed:
            for part in ("bin", "lib"):
                packed.add(made / part, part)
        build = run_module().unpacked(this.path(name + ".tar.gz"), folder)
        this.equal("the packed library where mlrun " + name, (build / "lib" / library).exists(), name == "starts")


def check_samples(this):
    run = run_module()
    devices = [{"kind": "gpu", "uuid": "GPU-1", "nvml_index": "0"}]

    def judged(ours, theirs, column="sm_percent"):
        samples = [{"ts": str(ts * MS), "gpu": "GPU-1"} | dict.fromkeys(run.COMPARED, "") | {column: value} for ts, value in ours]
        rows = [{"index": "0", run.COMPARED[column][0]: value} for value in theirs]
        return run.compare(checking.within(samples, [100 * MS, 300 * MS]), devices, rows)["gpu0." + column]["agrees"]

    while_it_starts = [(0, "0"), (50, "0")]
    this.equal("the same load", judged([*while_it_starts, (100, "97"), (200, "99")], ["98", "98"]), True)
    this.equal("another one", judged([(100, "80"), (200, "80")], ["98", "98"]), False)
    this.equal("what one side does not tell", [judged([(100, "97")], ["[N/A]"]), judged([(100, "")], ["97"]),
                                               judged(while_it_starts, ["97"])], [None] * 3)
    this.equal("a unit", [judged([(100, "300000")], [watt], "power_mw") for watt in ("310.5", "400.5")], [True, False])


def check_report(this):
    path = this.path("report.json")
    report, seen = checking.Report(path, {"date": "today"}), []

    def look():
        seen.append(json.loads(path.read_text(encoding="utf-8")))
        return {"agrees": True}

    def hang():
        checking.ran(["sh", "-c", "sleep 600 & sleep 600"], seconds=1)

    begin = time.monotonic()
    report.run([("good", lambda: {"agrees": True}), ("hangs", hang), ("wrong", lambda: [][0]), ("look", look)])
    this.true("what does not end is ended, with all that it started", time.monotonic() - begin < 60)
    checks = seen[0]["checks"]
    this.equal("those before are in the report", (seen[0]["is_complete"], list(checks)), (False, ["good", "hangs", "wrong"]))
    this.equal("by exception", [checks[name].get("failed_by_exception", False) for name in checks], [False, True, True])
    this.true("it says why", "did not end within 1 s" in checks["hangs"]["reason"] and "IndexError" in checks["wrong"]["reason"],
              checks)
    this.equal("all in all", report.agrees(), False)
    this.equal("no result", checking.last_line(checking.ran([sys.executable, "-c", "print(1); print('x')"]))[0], None)
    this.equal("a result", checking.last_line(checking.ran([sys.executable, "-c", "print('x'); print('[1]')"]))[0], [1])
    checking.set_time(0.5)
    agreed = checking.Report(path, {})
    agreed.run([("cut off", hang), ("late", lambda: 1 / 0)])
    this.equal("what there was no time for", {name: (seen.get("is_left_out"), seen["agrees"])
                                              for name, seen in agreed.checks.items()}, dict.fromkeys(agreed.checks, (True, None)))
    this.true("it says in what", "did not end" in agreed.checks["cut off"]["reason"], agreed.checks)


def check(this):
    check_starts(this)
    check_counts(this)
    check_gaps(this)
    check_copies(this)
    check_ends(this)
    check_samples(this)
    check_where_a_gpu_is(this)
    check_older_libc(this)
    check_report(this)


if __name__ == "__main__":
    case.run(check)
