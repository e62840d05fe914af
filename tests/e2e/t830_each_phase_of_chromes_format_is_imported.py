# SPDX-License-Identifier: Apache-2.0
"""Chrome's JSON in its shapes and phases: arrays, objects, arrays that are not closed, JSON lines, gzip, zip; times as text, with many decimals, absent
durations, ids beyond 64 bits, bytes that are not UTF-8. Each event is a row or listed."""

import gzip
import json
import zipfile

from lib import case
from lib.imported import imported


def write(this, name, content):
    path = this.path(name)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def check_precision(this):
    """Nothing below a microsecond is lost."""
    events = [{"ph": "X", "ts": 10.123, "dur": 0.9, "pid": 1, "tid": 1, "name": "short"},
              {"ph": "X", "ts": "10.5", "dur": "2", "pid": 1, "tid": 1, "name": "as text"},
              {"ph": "X", "ts": 20, "pid": 1, "tid": 1, "name": "without dur"}]
    text = json.dumps({"traceEvents": events}).encode()
    text = text.replace(b'"ts": 20', b'"ts": 1623143089861043.1234567')
    trace = imported(this, write(this, "precise.json", text))
    this.equal("times to the nanosecond", trace.rows("slice", "name, ts, dur", "ORDER BY ts"),
               [("short", 10123, 900), ("as text", 10500, 2000), ("without dur", 1623143089861043123, None)])


def check_shapes(this):
    event = b'{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"e","args":{"a":[1,{"b":"]}"}]}}'
    shapes = {"array.json": b"[" + event + b"," + event + b"]", "object.json": b'{"displayTimeUnit":"ms","traceEvents":[' + event + b",\n" + event + b"]}",
              "open.json": b"[" + event + b",\n" + event + b",\n", "lines.pfw": b"[\n" + event + b"\n" + event + b"\n]\n",
              "jsonl.json": event + b"\n" + event + b"\n", "empty_last.json": b"[" + event + b"," + event + b",{}]",
              "mark.json": b"\xef\xbb\xbf[" + event + b"," + event + b"]", "cut.json": b"[" + event + b"," + event + b"," + event[:30],
              "cut.json.gz": gzip.compress(b"[" + event + b"," + event), "two.gz": gzip.compress(b"[" + event) + gzip.compress(b"," + event + b"]")}
    for name, content in shapes.items():
        trace = imported(this, write(this, name, content))
        this.equal(f"slices of {name}", trace.count("slice"), 2)
        this.equal(f"arguments of {name}", trace.rows("slice", "DISTINCT args"), [('{"a":[1,{"b":"]}"}]}',)])
        cut = {"the last event: the file ends within it": 1} if name == "cut.json" else {}
        empty = {"an empty object": 1} if name == "empty_last.json" else {}
        this.equal(f"listed of {name}", trace.left_out(), cut | empty)
    with zipfile.ZipFile(this.path("one.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trace.json", b"[" + event + b"]")
    this.equal("slices of a zip file", imported(this, this.path("one.zip")).count("slice"), 1)


def check_phases(this):
    at = {"pid": 1, "tid": 2}
    events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "trainer"}},
              {"ph": "M", "name": "thread_name", **at, "args": {"name": "loader"}},
              {"ph": "B", "ts": 1, "name": "outer", **at, "args": {"x": 1}}, {"ph": "B", "ts": 2, "name": "inner", **at},
              {"ph": "E", "ts": 3, **at}, {"ph": "E", "ts": 4, "name": "outer", **at, "args": {"y": 2}}, {"ph": "E", "ts": 5, **at},
              {"ph": "B", "ts": 6, "name": "never ended", **at},
              {"ph": "b", "ts": 1, "cat": "io", "id": "0x1", "name": "request", **at}, {"ph": "n", "ts": 2, "cat": "io", "id": "0x1", "name": "step", **at},
              {"ph": "e", "ts": 9, "cat": "io", "id": "0x1", "name": "request", "pid": 1, "tid": 3},
              {"ph": "S", "ts": 1, "cat": "old", "id": 7, "name": "task", **at}, {"ph": "T", "ts": 2, "cat": "old", "id": 7, "name": "task", **at},
              {"ph": "F", "ts": 3, "cat": "old", "id": 7, "name": "task", **at},
              {"ph": "N", "ts": 1, "id": "0xa", "name": "object", **at}, {"ph": "O", "ts": 2, "id": "0xa", "name": "object", **at, "args": {"snapshot": {}}},
              {"ph": "D", "ts": 8, "id": "0xa", "name": "object", **at},
              {"ph": "i", "ts": 3, "s": "g", "name": "global", **at}, {"ph": "I", "ts": 3, "name": "old", **at}, {"ph": "R", "ts": 3, "name": "mark", **at},
              {"ph": "C", "ts": 4, "name": "bytes", **at, "args": {"used": 12, "free": 3.5}}, {"ph": "C", "ts": 5, "name": "bytes", "id": 1, **at, "args": {"used": 1}},
              {"ph": "s", "ts": 5, "id": 1, "cat": "f", "name": "a", **at}, {"ph": "s", "ts": 5, "id": 2, "cat": "f", "name": "a", **at},
              {"ph": "f", "ts": 7, "id": 1, "cat": "f", "name": "a", "bp": "e", **at}, {"ph": "t", "ts": 8, "id": 99, "cat": "f", "name": "a", **at},
              {"ph": "P", "ts": 6, "sf": 2, "name": "sample", **at}, {"ph": "c", "ts": 7, "name": "clock_sync", **at}, {"ph": "V", "ts": 8, "id": 1, "name": "dump", **at},
              {"ph": "X", "ts": 9, "dur": 1, "pid": "Spans", "tid": "stream 7", "name": "text ids", "cname": "bad", "tts": 5},
              {"ph": "X", "dur": 1, "name": "no time", **at}, {"ts": 3, "name": "no phase", **at}, 5]
    frames = {"1": {"name": "main"}, "2": {"name": "leaf", "parent": 1}}
    trace = imported(this, write(this, "phases.json", {"traceEvents": events, "stackFrames": frames}))
    this.equal("events", trace.events(), len(events))
    slices = {name: (ts, dur, args) for name, ts, dur, args in trace.rows("slice", "name, ts, dur, args", "WHERE kind = 'thread'")}
    this.equal("slices of threads", slices, {"outer": (1000, 3000, '{"x": 1,"y": 2}'), "inner": (2000, 1000, None), "never ended": (6000, None, None),
                                             "text ids": (9000, 1000, None)})
    this.equal("asynchronous slices", trace.rows("slice", "name, dur, track", "WHERE kind = 'async' ORDER BY ALL"),
               [("request", 8000, "0x1"), ("step", 0, "0x1"), ("task", 0, "7"), ("task", 2000, "7")])
    this.equal("objects", trace.rows("slice", "name, dur", "WHERE kind = 'object'"), [("object", 7000)])
    this.equal("points", sorted(trace.rows("mark", "scope")), [("process",), ("run",), ("thread",)])
    this.equal("counters", trace.rows("counter", "name, series, value", "ORDER BY ALL"), [("bytes", "free", 3.5), ("bytes", "used", 12.0), ("bytes[1]", "used", 1.0)])
    this.equal("flows", trace.rows("flow", "flow_id, step, binds", "ORDER BY ts, flow_id"),
               [(1, "start", "enclosing"), (2, "start", "enclosing"), (1, "end", "enclosing"), (99, "step", "enclosing")])
    this.equal("a stack", trace.rows("stack_sample", "count(*)"), [(1,)])
    this.equal("frames", sorted(trace.rows("frame", "function")), [("leaf",), ("main",)])
    this.equal("other events", sorted(trace.rows("import_event", "kind", "WHERE kind != 'metadata'")), [("O",), ("V",), ("c",)])
    this.equal("left out", trace.left_out(), {"an end without a beginning": 1, "an element that is no object": 1, "an event without a phase": 1, "an event without a time": 1})
    this.equal("text ids", trace.rows("slice", "pid < -1, tid < -1, other", "WHERE name = 'text ids'"), [(True, True, '{"cname":"bad","tts":5}')])
    names = trace.rows("process", "command", "ORDER BY ALL")
    this.true("names of processes", ("trainer",) in names and ("Spans",) in names, names)


def check_mended(this):
    text = (b'[{"ph":"s","ts":1,"pid":1,"tid":1,"id":99999999999999999999999,"name":"a"},{"ph":"f","ts":2,"pid":1,"tid":1,"id":99999999999999999999999,"name":"a"},'
            b'{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"name":"caf\xe9 \x01"},{"ph":"X","ts":3,"dur":1,"pid":1,"tid":1,"name":"say "hello" twice"}]')
    trace = imported(this, write(this, "mended.json", text))
    this.equal("an id beyond 64 bits", trace.rows("flow", "DISTINCT flow_id, id_text"), [(-1, "99999999999999999999999")])
    this.equal("names", trace.rows("slice", "name", "ORDER BY ts"), [("caf\\xe9 \x01",), ('say "hello" twice',)])


def check(this):
    check_precision(this)
    check_shapes(this)
    check_phases(this)
    check_mended(this)


if __name__ == "__main__":
    case.run(check)
