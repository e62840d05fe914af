# SPDX-License-Identifier: Apache-2.0
"""Sample files of other tools (MLRUN_SAMPLES, or ../shared/samples): events in = rows + listed. The number of events in a file comes from Python's
own JSON, SQLite and perf."""

import gzip
import json
import os
import pathlib
import re
import sqlite3
import subprocess

from lib import case
from lib.imported import imported

SAMPLES = pathlib.Path(os.environ.get("MLRUN_SAMPLES", case.SOURCE.parent / "shared" / "samples"))
JSON_FOLDERS = ("kineto_hta", "kineto_tbplugin", "tracelens", "chrome2otf2", "chrome_catapult", "chrome_speedscope", "perfetto_difftests", "tf_xprof")


def json_events(path):
    """Events of a file that Python can read as a whole; None: it cannot."""
    content = path.read_bytes()
    try:
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        data = json.loads(content.decode("utf-8-sig"))
    except (ValueError, OSError):
        return None
    if isinstance(data, list):
        return len(data) if any(isinstance(event, dict) and "ph" in event for event in data) else None
    if "traceEvents" not in data:
        return None
    system = data.get("systemTraceEvents")
    return (len(data["traceEvents"]) + (len(data["samples"]) if isinstance(data.get("samples"), list) else 0)
            + (len(system["events"]) if isinstance(system, dict) else 0))


def check_json(this):
    checked = 0
    for folder in JSON_FOLDERS:
        for path in sorted((SAMPLES / folder).iterdir()):
            expected = json_events(path)
            if expected is None:
                continue
            checked += 1
            trace = imported(this, path)
            this.equal(f"events of {path.name} (of the trace, of the file)", trace.events(), expected)
    this.true("files were checked", checked > 25, checked)


def check_resnet(this):
    """Of the slices and flows that an older converter loses a fifth, and all, we keep each."""
    [path] = (SAMPLES / "kineto_tbplugin").glob("worker0.1623143089861*")
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    slices = sum(event["ph"] == "X" for event in events)
    trace = imported(this, path)
    kept = sum(trace.count(table) for table in ("slice", "gpu_api", "gpu_kernel", "gpu_memcpy", "gpu_memset"))
    this.equal("slices", kept, slices)
    this.equal("slices in the file", slices, 44_666)
    this.equal("flows", trace.count("flow"), sum(event["ph"] in "sf" for event in events))
    times = sorted(event["ts"] * 1000 for event in events if event["ph"] == "X" and event["cat"] == "Kernel")
    this.equal("times of kernels", [ts for ts, in trace.rows("gpu_kernel", "ts", "ORDER BY ts")], times)
    launched = trace.rows("gpu_kernel", "count(*)", "WHERE thread_id IS NULL")[0][0]
    this.equal("kernels without their launching thread", launched, 0)


def check_others(this):
    for path in sorted((SAMPLES / "nsys_sqlite").glob("*.sqlite")):
        base = sqlite3.connect(path)
        count = lambda table, base=base: base.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: E731
        trace = imported(this, path)
        this.equal(f"kernels of {path.name}", trace.count("gpu_kernel"), count("CUPTI_ACTIVITY_KIND_KERNEL"))
        this.equal(f"calls of {path.name}", trace.count("gpu_api"), count("CUPTI_ACTIVITY_KIND_RUNTIME"))
        if base.execute("SELECT 1 FROM sqlite_master WHERE name = 'NVTX_EVENTS'").fetchone():
            this.equal(f"ranges of {path.name}", trace.count("mark"), count("NVTX_EVENTS"))
    for path in sorted((SAMPLES / "perf_script").glob("*.txt")):
        times = re.findall(r"^\S.*? \d+\.\d+: ", path.read_text(encoding="utf-8"), re.MULTILINE)
        this.equal(f"samples of {path.name}", imported(this, path).count("stack_sample"), len(times))
    for path in sorted((SAMPLES / "mllog").glob("*.txt")):
        lines = sum(":::MLLOG" in line for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
        this.equal(f"lines of {path.name}", imported(this, path).events(), lines)
    for path in sorted((SAMPLES / "perfetto_difftests").glob("*.strace")):
        this.equal(f"lines of {path.name}", imported(this, path).events(), sum(bool(line.strip()) for line in path.read_text("utf-8").splitlines()))
    trace = imported(this, SAMPLES / "otf2_pipit" / "ping-pong-otf2" / "traces.otf2")
    this.true("an MPI ping-pong has regions and messages", trace.count("slice") > 0 and trace.count("flow") > 0)
    starts = trace.rows("flow", "count(*)", "WHERE step = 'start'")
    this.equal("each message has its end", starts, trace.rows("flow", "count(*)", "WHERE step = 'end'"))
    for name in ("perf.data.weight_struct", "perf.data.singleprocess-3.8"):
        dump = subprocess.run(["perf", "script", "-D", "-i", SAMPLES / "perf_data" / name], capture_output=True, check=False, text=True, errors="replace")
        this.equal(f"samples of {name}", imported(this, SAMPLES / "perf_data" / name).count("stack_sample"), dump.stdout.count("PERF_RECORD_SAMPLE"))


def check(this):
    if not SAMPLES.is_dir():
        raise case.Skip(f"no samples in {SAMPLES}")
    check_json(this)
    check_resnet(this)
    check_others(this)


if __name__ == "__main__":
    case.run(check)
