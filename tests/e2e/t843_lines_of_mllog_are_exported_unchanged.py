# SPDX-License-Identifier: Apache-2.0
"""A log of MLPerf, imported and exported to mlperf-traces, has its lines again, in order of time, with keys, types, values and metadata; that log, imported, has the
same marks."""

import json

from lib import case
from lib.exported import every_row_is_told_of, export
from lib.imported import imported

START = 1_700_000_000_000
LINES = [("POINT_IN_TIME", "submission_org", 0, "us", {"file": "a b.py", "lineno": 3}), ("INTERVAL_START", "run_start", 5, None, {"lineno": 7}),
         ("INTERVAL_START", "epoch_start", 6, None, {"epoch_num": 1, "text": "q\"\\\u00e9"}), ("POINT_IN_TIME", "eval_accuracy", 8, 0.5, {"epoch_num": 1}),
         ("INTERVAL_END", "epoch_stop", 9, None, {"epoch_num": 1, "lineno": 12}), ("POINT_IN_TIME", "bare", 9, [1, {"a": None}], {}),
         ("INTERVAL_END", "run_stop", 12, None, {"status": "success"}), ("INTERVAL_START", "epoch_start", 13, None, {"epoch_num": 2})]


def logged(lines):
    return "".join(':::MLLOG ' + json.dumps({"namespace": "", "time_ms": START + ms, "event_type": type_, "key": key, "value": value, "metadata": metadata}) + "\n"
                   for type_, key, ms, value, metadata in lines)


def marks(trace):
    names = f"JOIN '{trace.folder}/tables/name/*.parquet' USING (name_id)"
    return trace.rows("mark", "ts, dur, name, value", f"{names} ORDER BY ALL")


def check(this):
    path = this.path("train.log")
    path.write_text("a line of the program\n" + logged(LINES))
    trace = imported(this, path)
    this.equal("lines", trace.events(), len(LINES))
    metadata = [(name, kind, json.loads(args)) for name, kind, args in trace.rows("import_event", "name, id, args", "WHERE kind = 'mllog' ORDER BY ts, name")]
    this.equal("metadata", metadata, [(key, type_, about) for type_, key, _, _, about in LINES if about])
    out, printed = export(this, trace, "mlperf-traces", "traces")
    every_row_is_told_of(this, trace, printed)
    lines = [json.loads(line.removeprefix(":::MLLOG ")) for line in (out / "app.log").read_text().splitlines()]
    found = [(one["event_type"], one["key"], one["time_ms"] - START, one["value"], one["metadata"]) for one in lines]
    by_line = lambda line: (line[2], line[1], line[0])  # noqa: E731
    this.equal("exported lines", sorted(found, key=by_line), sorted(LINES, key=by_line))
    this.equal("in order of time", [line[2] for line in found], sorted(line[2] for line in found))
    again = imported(this, out / "app.log")
    this.equal("marks, exported and imported", marks(again), marks(trace))
    this.equal("metadata, exported and imported", again.rows("import_event", "ts, name, id, args", "ORDER BY ALL"), trace.rows("import_event", "ts, name, id, args", "ORDER BY ALL"))
    (this.path("marks.json")).write_text(json.dumps([{"ph": "i", "ts": 1, "pid": 1, "tid": 1, "name": "no line"}]))
    out, printed = export(this, imported(this, this.path("marks.json")), "mlperf-traces", "no_log")
    this.true("no log is no file", "app.log is missing" in printed and not (out / "app.log").exists(), printed)


if __name__ == "__main__":
    case.run(check)
