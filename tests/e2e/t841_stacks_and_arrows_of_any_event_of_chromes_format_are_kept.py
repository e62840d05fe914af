# SPDX-License-Identifier: Apache-2.0
"""Chrome's events of any phase may have a stack (`sf`, `stack`) and an arrow (`bind_id`, `flow_in`, `flow_out`): slices have the stack, marks and ends of arrows
a row beside them. Exported to Chrome's format and imported again they are the same. Members that make no arrow stay with the event; stacks to which no row refers are listed."""

import json
from collections import Counter

from lib import case
from lib.exported import every_row_is_told_of, export
from lib.imported import imported

AT = {"pid": 1, "tid": 2}
FRAMES = {"1": {"name": "main"}, "2": {"name": "loop", "parent": 1}, "3": {"name": "leaf", "parent": 2}, "9": {"name": "unused", "parent": 1}}


def x(name, ts, **more):
    return {"ph": "X", "name": name, "ts": ts, "dur": 5, **AT, **more}


EVENTS = [
    x("x", 10, sf=3), x("listed", 20, stack=["main", "b"]), x("both", 30, sf=2, stack=["c"]), x("unknown", 40, sf=77),
    {"ph": "B", "name": "range", "ts": 50, **AT, "sf": "2"}, {"ph": "E", "name": "range", "ts": 55, **AT, "sf": "3"},
    {"ph": "b", "name": "async", "cat": "io", "id": 1, "ts": 60, **AT, "sf": 1}, {"ph": "n", "name": "step", "cat": "io", "id": 1, "ts": 61, **AT, "sf": 2},
    {"ph": "e", "name": "async", "cat": "io", "id": 1, "ts": 65, **AT},
    {"ph": "i", "name": "point", "ts": 70, **AT, "s": "t", "sf": 2}, {"ph": "s", "name": "a", "cat": "f", "id": 5, "ts": 11, **AT, "sf": 1},
    {"ph": "f", "name": "a", "cat": "f", "id": 5, "ts": 21, **AT, "bp": "e"}, {"ph": "O", "name": "object", "id": 1, "ts": 80, **AT, "sf": 2},
    {"ph": "X", "name": "cudaLaunchKernel", "cat": "cuda_runtime", "ts": 90, "dur": 1, **AT, "args": {"correlation": 4}, "sf": 3},
    {"ph": "P", "name": "sample", "ts": 91, **AT, "sf": 3},
]
ARROWS = [
    x("sends", 100, bind_id="0x7", flow_out=True), x("forwards", 110, bind_id="0x7", flow_in=True, flow_out=True), x("receives", 120, bind_id="0x7", flow_in=True, cat="other"),
    x("text", 130, bind_id="zeta", flow_out=True), {"ph": "B", "name": "ends", "ts": 140, **AT, "bind_id": "zeta", "flow_in": True}, {"ph": "E", "ts": 145, **AT},
    x("lone", 150, bind_id="0x8"), x("without id", 160, flow_in=True), x("neither", 170, bind_id=3, flow_in=False),
]


def stacks(trace):
    """(table, name, frames from the innermost on) of each row that has a stack."""
    frames = {}
    for stack_id, function in trace.rows("stack", "stack_id, function", f"JOIN '{trace.folder}/tables/frame/*.parquet' USING (frame_id) ORDER BY stack_id, depth"):
        frames.setdefault(stack_id, []).append(function)
    found = Counter()
    for table, column in (("slice", "name"), ("import_event", "kind"), ("stack_sample", "event")):
        for name, stack_id in trace.rows(table, f"{column}, stack_id", "WHERE stack_id IS NOT NULL"):
            found[table, name, tuple(frames[stack_id])] += 1
    return found


def remarks(trace):
    return {what: count for file in trace.files for what, count in file["remarks"].items()}


def check_stacks(this):
    path = this.path("stacks.json")
    path.write_text(json.dumps({"traceEvents": EVENTS, "stackFrames": FRAMES}))
    trace = imported(this, path)
    this.equal("left out", trace.left_out(), {})
    leaf = ("leaf", "loop", "main")
    expected = Counter({("slice", "x", leaf): 1, ("slice", "listed", ("b", "main")): 1, ("slice", "both", ("c",)): 1, ("slice", "range", ("loop", "main")): 1,
                        ("slice", "async", ("main",)): 1, ("slice", "step", ("loop", "main")): 1, ("import_event", "stack", ("loop", "main")): 1,
                        ("import_event", "stack", ("main",)): 1, ("import_event", "O", ("loop", "main")): 1, ("import_event", "stack", leaf): 1, ("stack_sample", "sample", leaf): 1})
    this.equal("stacks", stacks(trace), expected)
    this.equal("labels of frames", sorted(trace.rows("frame", "label")), [("b",), ("c",), ("leaf",), ("loop",), ("main",)])
    others = {name: json.loads(other) for name, other in trace.rows("slice", "name, other", "WHERE other IS NOT NULL AND kind = 'thread'")}
    this.equal("what has no column", others, {"both": {"sf": 2}, "range": {"esf": 3}})
    this.equal("told", remarks(trace), {"a frame in stackFrames that no stack has": 1, "a stack with a frame that stackFrames does not have": 1})
    out, printed = export(this, trace, "chrome", "stacks.out.json")
    every_row_is_told_of(this, trace, printed)
    again = imported(this, out)
    found = {what: count for what, count in stacks(again).items() if what[0] == "slice"}
    for name, frames in (("x", leaf), ("listed", ("b", "main")), ("range", ("loop", "main")), ("async", ("main",))):
        this.equal(f"stack of {name}, exported and imported", found.get(("slice", name, frames)), 1)


def check_arrows(this):
    path = this.path("arrows.json")
    path.write_text(json.dumps(ARROWS))
    trace = imported(this, path)
    rows = trace.rows("flow", "ts // 1000, flow_id, step, binds, name, category, id_text", "ORDER BY ts")
    this.equal("ends of arrows", rows, [(100, 7, "start", "enclosing", "bind_id", None, None), (110, 7, "step", "enclosing", "bind_id", None, None),
                                        (120, 7, "end", "enclosing", "bind_id", None, None), (130, -1, "start", "enclosing", "bind_id", None, "zeta"),
                                        (140, -1, "end", "enclosing", "bind_id", None, "zeta")])
    this.equal("events, each once", trace.events(), len(ARROWS))
    others = {name: json.loads(other) for name, other in trace.rows("slice", "name, other", "WHERE other IS NOT NULL")}
    this.equal("what is no arrow", others, {"lone": {"bind_id": "0x8"}, "without id": {"flow_in": True}, "neither": {"bind_id": 3, "flow_in": False}})
    for form, name in (("chrome", "arrows.out.json"), ("perfetto", "arrows.pftrace"), ("otf2", "arrows.otf2")):
        out, printed = export(this, trace, form, name)
        every_row_is_told_of(this, trace, printed)
        if form == "perfetto":
            this.true("arrows from slice to slice", "arrows of flow: 3;" in printed, printed)
        else:
            again = imported(this, out if form == "chrome" else out / "traces.otf2")
            this.equal(f"ends of arrows, by {form}", again.rows("flow", "ts // 1000, flow_id, step, binds, name, category, id_text", "ORDER BY ts"), rows)


def check_system(this):
    """Events of Fuchsia's kernel, whose phases mean something else."""
    end = {"ph": "t", "pid": 1, "tid": 2, "ts": 1, "id": 1, "name": "arrow"}
    events = [{"ph": "p", "pid": 1, "name": "shell"}, {"ph": "t", "pid": 1, "tid": 2, "name": "initial"}, {"ph": "k", "ts": 5.5, "cpu": 3, "out": {"pid": 0}, "in": {"pid": 1, "tid": 2}}]
    path = this.path("system.json")
    path.write_text(json.dumps({"systemTraceEvents": {"type": "fuchsia", "events": events}, "traceEvents": [x("x", 1)], "stackFrames": {}}))
    trace = imported(this, path)
    this.equal("all events", (trace.events(), trace.left_out()), (4, {}))
    rows = trace.rows("import_event", "ts, kind, name, args", "ORDER BY kind")
    this.equal("of the kernel", [(ts, kind, name, args and json.loads(args)) for ts, kind, name, args in rows],
               [(5500, "system k", None, {"cpu": 3, "out": {"pid": 0}, "in": {"pid": 1, "tid": 2}}), (None, "system p", "shell", None), (None, "system t", "initial", None)])
    this.equal("names", (trace.rows("process", "command"), trace.rows("thread", "comm")), ([("shell",)], [("initial",)]))
    this.equal("metadata", trace.files[0]["metadata"], {"systemTraceEvents type": "fuchsia"})
    path.write_text(json.dumps({"traceEvents": [], "systemTraceEvents": {"events": events}}) + json.dumps([x("behind", 1), end]))
    trace = imported(this, path)
    this.equal("an array behind it", (trace.rows("slice", "name"), trace.rows("flow", "step")), ([("behind",)], [("step",)]))


def check(this):
    check_system(this)
    check_stacks(this)
    check_arrows(this)


if __name__ == "__main__":
    case.run(check)
