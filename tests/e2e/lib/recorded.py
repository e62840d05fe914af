# SPDX-License-Identifier: Apache-2.0
"""Recorded and imported traces for exports that are imported again: a run with files, stacks and samples, one with GPU work of the mock, and what
another tool wrote."""

import json
import sys

from lib import case
from lib.exported import trace_of
from lib.imported import imported

sys.path.append(str(case.SOURCE / "tests" / "gpu"))

AT = {"pid": 7, "tid": 1}
OTHER = {"pid": 7, "tid": 2}
SAMPLE = [
    {"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "trainer \"7\"\n"}}, {"ph": "M", "name": "thread_name", **AT, "args": {"name": "main"}},
    {"ph": "X", "ts": 1.001, "dur": 10, "name": "outer", "cat": "op", **AT, "args": {"shape": [1, {"b": "]}"}], "text": "a\"b\\c\n\u0001\U0001f600"}},
    {"ph": "X", "ts": 1.001, "dur": 10, "name": "same time", "cat": "op", **AT}, {"ph": "X", "ts": 2, "dur": 0, "name": "no time", "cat": "op", **AT, "args": {}},
    {"ph": "X", "ts": 3, "dur": 2.5, "name": "", **AT, "cname": "good", "tts": 5}, {"ph": "X", "ts": 4, "name": "without dur", "cat": "op", **OTHER},
    {"ph": "B", "ts": 5, "name": "begun", "cat": "range", **OTHER, "args": {"x": 1}}, {"ph": "E", "ts": 6, **OTHER, "args": {"y": 2}},
    {"ph": "b", "ts": 1, "cat": "io", "id": "0x1", "name": "request", **AT}, {"ph": "b", "ts": 2, "cat": "io", "id": "0x2", "name": "crosses", **AT},
    {"ph": "e", "ts": 4, "cat": "io", "id": "0x1", "name": "request", **AT}, {"ph": "e", "ts": 9, "cat": "io", "id": "0x2", "name": "crosses", **AT},
    {"ph": "b", "ts": 3, "cat": "io", "id2": {"local": "0x1"}, "name": "local", **OTHER}, {"ph": "e", "ts": 8, "cat": "io", "id2": {"local": "0x1"}, "name": "local", **OTHER},
    {"ph": "C", "ts": 4, "name": "bytes", "cat": "memory", **AT, "args": {"used": 12, "free": 3.5}}, {"ph": "C", "ts": 5, "name": "bytes", "id": 1, "pid": 7, "args": {"used": 1e300}},
    {"ph": "s", "ts": 1.5, "id": 1, "cat": "f", "name": "a", **AT, "args": {"why": 1}}, {"ph": "t", "ts": 4, "id": 1, "cat": "f", "name": "a", **OTHER},
    {"ph": "f", "ts": 5.5, "id": 1, "cat": "f", "name": "a", "bp": "e", **OTHER}, {"ph": "f", "ts": 9, "id": 2**60, "cat": "f", "name": "a", **OTHER},
    {"ph": "i", "ts": 3, "s": "t", "name": "point", "cat": "log", **AT, "args": {"level": 3}},
    {"ph": "X", "ts": 1.5, "dur": 1, "name": "cudaLaunchKernel", "cat": "cuda_runtime", **AT, "args": {"correlation": 8}},
    {"ph": "X", "ts": 7, "dur": 2, "name": "kernel", "cat": "kernel", "pid": 0, "tid": 3, "args": {"device": 0, "context": 1, "stream": 3, "correlation": 8}},
    {"ph": "X", "ts": 8, "dur": 2, "name": "kernel", "cat": "kernel", "pid": 0, "tid": 3, "args": {"device": 0, "context": 1, "stream": 3, "correlation": 9}},
]


def other_tools(this):
    path = this.path("sample.json")
    path.write_text(json.dumps(SAMPLE))
    return imported(this, path)


def gpu_work(this):
    import cupti_case
    return cupti_case.traced(this, "return", 20, options=["--stacks"])


def traces(this):
    """(name, trace) of each."""
    yield "imported", other_tools(this)
    yield "run", trace_of(this)
    yield "gpu", gpu_work(this)
