# SPDX-License-Identifier: Apache-2.0
"""Chrome's JSON as it is found: traces put one behind the other, arrays without an end in the middle of a file, members before the events, texts that are no
UTF-16 or no JSON, NaN, members that no column is for. What is no trace is refused."""

import json

from lib import case
from lib.imported import imported, refused

EVENT = b'{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"e"}'


def write(this, name, content):
    path = this.path(name)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def remarks(trace):
    return {what: count for file in trace.files for what, count in file["remarks"].items()}


def check_shapes(this):
    samples = b",".join(b'{"ph":"P","ts":%d,"pid":1,"tid":1,"name":"s"}' % time for time in range(30_000))
    pretty = json.dumps(json.loads(EVENT), indent=1).encode()
    shapes = {"two.json": b"[" + EVENT + b"]\n[" + EVENT + b"]", "open_two.pfw": b"[\n" + EVENT + b",\n[\n" + EVENT + b",\n",
              "crlf.json": b"[\r\n" + EVENT + b",\r\n" + EVENT + b"\r\n]\r\n", "lines_of_many.json": pretty + b"\n" + pretty,
              "objects.json": (b'{"traceEvents":[' + EVENT + b"]}") * 2,
              "nested.json": b"[[" + EVENT + b"," + EVENT + b"]]",
              "events_last.json": b'{"samples":[' + samples + b'],"text":"' + b"x" * 3_000_000 + b'","traceEvents":[' + EVENT + b"," + EVENT + b"]}"}
    for name, content in shapes.items():
        trace = imported(this, write(this, name, content))
        this.equal(f"slices of {name}", trace.count("slice"), 2)
        this.equal(f"left out of {name}", trace.left_out(), {})
    this.equal("samples before the events", trace.count("stack_sample"), 30_000)
    this.true("a long member is listed", any("text" in remark for remark in remarks(trace)), remarks(trace))


def check_frames(this):
    frames = {str(number): {"name": f"function {number}", "parent": str(number - 1)} for number in range(1, 60_000)}
    content = {"traceEvents": [{"ph": "P", "ts": 1, "pid": 1, "tid": 1, "name": "s", "sf": 3, "args": {"data": {"chunk": 1}}, "cat": "c", "weight": 5}],
               "stackFrames": frames}
    trace = imported(this, write(this, "frames.json", content))
    this.equal("frames of a table of two MiB", sorted(trace.rows("frame", "function")), [("function 1",), ("function 2",), ("function 3",)])
    [(period, args)] = trace.rows("stack_sample", "period, args")
    this.equal("period", period, 5)
    this.equal("arguments of a sample", json.loads(args), {"args": {"data": {"chunk": 1}}, "cat": "c"})
    deep = {"traceEvents": [{"ph": "P", "ts": 1, "pid": 1, "tid": 1, "name": "s", "sf": 300}], "stackFrames": frames}
    this.equal("a deep stack", remarks(imported(this, write(this, "deep.json", deep))),
               {"a stack of more than 255 frames, without the outer ones": 1, "a frame in stackFrames that no stack has": 59_999 - 300})


def check_texts(this):
    content = (b'[{"ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"name":"a","args":{"x":NaN,"y":[-Infinity,1],"z":"NaN, -inf"}},'
               b'{"ph":"X","ts":2,"dur":1,"pid":1,"tid":1,"name":"caf\\udce9 \\ud83d\\ude00 \\ud83d"},'
               b'{"ph":"X","ts":3,"dur":1,"pid":1,"tid":1,"name":"C:\\data\\work","args":{"a":None,"b":0x1f}},'
               b'{"ph":"C","ts":4,"pid":1,"name":"c","args":{"v":9007199254740993,"n":NaN,"w":1}}]')
    trace = imported(this, write(this, "texts.json", content))
    rows = trace.rows("slice", "name, args", "ORDER BY ts")
    this.equal("a text that is no UTF-16, and one that has pairs", rows[1][0], "caf\\xe9 \U0001f600 \ufffd")
    this.equal("a path with backslashes", rows[2][0], "C:\\data\\work")
    this.equal("numbers that are none", json.loads(rows[0][1], parse_constant=lambda word: this.true(f"{word} is no JSON", False)),
               {"x": "NaN", "y": ["-Infinity", 1], "z": "NaN, -inf"})
    this.equal("literals of Python and C", json.loads(rows[2][1]), {"a": "None", "b": "0x1f"})
    this.equal("counters", trace.rows("counter", "series, value", "ORDER BY series"), [("v", 9007199254740992.0), ("w", 1.0)])
    this.equal("a rounded counter is listed", remarks(trace).get("a counter's value beyond 2^53, rounded"), 1)
    [(rest,)] = trace.rows("import_event", "args", "WHERE kind = 'counter'")
    this.equal("the value that is none", json.loads(rest), {"n": "NaN"})


def check_members(this):
    at = {"pid": 1, "tid": 1, "ts": 1}
    events = [{"ph": "X", **at, "dur": 1, "name": "x", "sf": 7, "scope": "z", "stack": ["a"], "id": {"a": 1}},
              {"ph": "i", **at, "name": "i", "id": 5, "s": "p", "dur": 2.5}, {"ph": "B", **at, "name": "b", "id": 1}, {"ph": "E", **at, "ts": 2, "name": "b", "sf": 9},
              {"ph": "M", "pid": 1, "tid": 1, "name": "m", "args": {"k": 1}, "cname": "good"}, {"ph": "Xyz", **at, "name": "long"},
              {"ph": "s", **at, "id2": {"local": "0x5"}, "name": "f", "cat": "c"}, {"ph": "f", **at, "pid": 2, "id2": {"local": "0x5"}, "name": "f", "cat": "c"},
              {"ph": "X", **at, "dur": 1, "cat": "cuda_runtime", "name": "cudaLaunch", "args": {"correlation": 1 << 33}},
              {"ph": "X", **at, "dur": 1, "cat": "kernel", "name": "k", "args": {"device": 0, "stream": 1 << 40, "correlation": 3}}]
    trace = imported(this, write(this, "members.json", events))
    others = {name: json.loads(other) for name, other in trace.rows("slice", "name, other", "WHERE other IS NOT NULL")}
    this.equal("members of slices without a column", others, {"x": {"sf": 7, "scope": "z"}, "b": {"id": 1, "esf": 9}})
    this.equal("a stack in the event itself", trace.rows("frame", "function"), [("a",)])
    this.equal("an id that is an object", trace.rows("slice", "track", "WHERE name = 'x'"), [('{"a": 1}',)])
    this.equal("members of an instant", [json.loads(value) for value, in trace.rows("mark", "value")], [{"id": 5, "dur": 2.5}])
    this.equal("members of metadata", [json.loads(args) for args, in trace.rows("import_event", "args", "WHERE kind = 'metadata'")],
               [{"args": {"k": 1}, "cname": "good"}])
    this.equal("ids of two processes", trace.rows("flow", "count(DISTINCT flow_id)"), [(2,)])
    this.equal("a correlation beyond 32 bits joins nothing", (trace.count("gpu_api"), trace.rows("slice", "args", "WHERE name = 'cudaLaunch'")),
               (0, [('{"correlation": 8589934592}',)]))
    this.equal("a stream beyond 32 bits", [json.loads(args) for args, in trace.rows("import_event", "args", "WHERE kind = 'gpu'")], [{"stream": 1 << 40}])
    this.equal("left out", trace.left_out(), {"an event without a phase": 1})


def check_names_of_files(this):
    """DFTracer may write the name of a file behind its calls; older versions write it in each."""
    def call(time, **args):
        return {"ph": "X", "cat": "POSIX", "name": "read", "pid": 1, "tid": 1, "ts": time, "dur": 1, "args": args}

    events = [call(1, fhash="abc", ret=5), {"ph": "M", "cat": "dftracer", "name": "FH", "pid": 1, "tid": 1, "args": {"name": "/data/late", "value": "abc"}},
              call(2, fname="/data/old", ret=6), call(3, fhash="unknown", ret=7)]
    trace = imported(this, write(this, "names.pfw", b"[\n" + b"\n".join(json.dumps(event).encode() for event in events)))
    this.equal("files", trace.rows("call", "path", f"JOIN '{trace.folder}/tables/file/*.parquet' USING (file_id) ORDER BY ts"),
               [("/data/late",), ("/data/old",), ("[file unknown]",)])


def check_no_traces(this):
    refused(this, write(this, "a.cpuprofile", {"nodes": [], "samples": [1, 2], "timeDeltas": [3]}), "event")
    refused(this, write(this, "package.json", {"name": "package", "version": 1}), "traceEvents")
    refused(this, write(this, "log.json", [{"message": "hello"}]), "event")
    refused(this, write(this, "cut.json", b'[{"ph":"X","ts":1'), "event")
    this.equal("an empty trace is one", imported(this, write(this, "empty.json", {"traceEvents": []})).events(), 0)


def check(this):
    check_shapes(this)
    check_frames(this)
    check_texts(this)
    check_members(this)
    check_names_of_files(this)
    check_no_traces(this)


if __name__ == "__main__":
    case.run(check)
