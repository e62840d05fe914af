# SPDX-License-Identifier: Apache-2.0
"""A parser written from the columns of the scripts accepts each file, and finds the calls of the trace in it, with the end of the call as time
stamp. Files of mpstat and iostat have their shape; without samples they are named as missing."""

import json
import re
from collections import Counter
from datetime import datetime

from lib import case
from lib.exported import every_row_is_told_of, export, rows_of, trace_of

LINES = {
    "trace_read.out": (r"TIMESTAMP +PID +OFFSET +RET \(B\) +LAT\(ns\) +FILENAME", r"(?P<at>\d+) +(?P<pid>\d+) +(?P<offset>\d+) +(?P<ret>\d+) +(?P<lat>\d+) +(?P<name>\S*)"),
    "trace_write.out": (r"TIMESTAMP +PID +OFFSET +SIZE \(B\) +LAT \(ns\) +FILENAME", r"(?P<at>\d+) +(?P<pid>\d+) +(?P<offset>\d+) +(?P<ret>\d+) +(?P<lat>\d+) +(?P<name>\S*)"),
    "trace_openat.out": (r"TIMESTAMP +PID +COMM +LAT\(ns\) +FULLPATH FILENAME", r"(?P<at>\d+) +(?P<pid>\d+) +\S+ +(?P<lat>\d+) +(?P<path>\S+) (?P<name>\S*)"),
    "trace_close.out": (r"TIMESTAMP +PID +FD +LAT\(ns\) +FILENAME", r"(?P<at>\d+) +(?P<pid>\d+) +(?P<fd>-?\d+) +(?P<lat>\d+) +(?P<name>\S*)"),
}
CLASSES = {"trace_read.out": ("read", "pread"), "trace_write.out": ("write", "pwrite"), "trace_openat.out": ("open", "openat", "fopen"), "trace_close.out": ("close", "fclose")}


def parsed(this, out, name):
    header, line = LINES[name]
    first, *lines = (out / name).read_text().splitlines()
    this.true(f"first line of {name}", re.fullmatch(header + " *", first), first)
    matches = [re.fullmatch(line, text) for text in lines]
    this.equal(f"lines of {name} that are not as they should be", [text for text, match in zip(lines, matches, strict=True) if not match], [])
    return Counter((int(match["at"]), int(match["pid"]), int(match["lat"])) for match in matches)


def check_calls(this, trace, out):
    for name, functions in CLASSES.items():
        wanted = Counter((row["ts"] + row["dur"], row["pid"], row["dur"]) for row in rows_of(trace, "call")
                         if row["func"] in functions and (row["err"] == 0 or name in ("trace_openat.out", "trace_close.out")))
        this.equal(f"calls of {name}", parsed(this, out, name) & wanted, wanted)
    names = (out / "trace_create_del.out").read_text()
    for function in ("mkdir", "rmdir"):
        count = sum(row["func"].startswith(function) for row in rows_of(trace, "call"))
        this.equal(f"{function}()", len(re.findall(rf"^\d+ +\d+ +{function}\(\) ", names, re.M)), count)
    strace = (out / "strace.out").read_text().splitlines()
    this.true("strace's lines", all(re.fullmatch(r"\d+ \d\d:\d\d:\d\d\.\d{6} \w+\(.*\) = -?\d+ <\d+\.\d{6}>", line) for line in strace), strace[:3])


def check_samples(this, out):
    lines = [line.split() for line in (out / "cpu.out").read_text().splitlines() if "%" not in line][2:]
    this.true("seconds of cpu.out", lines and all(line[1] == "all" and len(line) == 12 for line in lines), lines[:2])
    this.true("shares add up", all(abs(sum(map(float, line[2:])) - 100) < 0.1 for line in lines), lines[:2])
    (host,) = json.loads((out / "iostat.json").read_text())["sysstat"]["hosts"]
    for second in host["statistics"]:
        date, time, half = second["timestamp"].split(" ")
        datetime.strptime(f"{date} {time} {half}", "%Y-%m-%d %I:%M:%S %p")
        this.true("disks", second["disk"] and all(len(disk) == 23 and disk["util"] <= 101 for disk in second["disk"]), second)


def check_processes(this, trace, out):
    gpu = (out / "gpu.out").read_text().splitlines()
    this.true("gpu.out has a date", re.match(r"^\s+(\d{8})\s+(\d{2}:\d{2}:\d{2}).*", gpu[2]), gpu)
    pids = {str(row["pid"]) for row in rows_of(trace, "process")}
    this.equal("pids.json", set(json.loads((out / "pids.json").read_text())), pids)
    this.equal("pids.out", {line.split()[1] for line in (out / "pids.out").read_text().splitlines()[1:]}, pids)
    lines = [re.fullmatch(r"(\d+) +(\d\d:\d\d:\d\d)", line) for line in (out / "trace_time_align.out").read_text().splitlines()[1:]]
    offset = trace.run["clock"]["realtime_offset_start_ns"]
    for before, after in zip(lines[::2], lines[1::2], strict=True):
        this.equal("a second changes in a nanosecond", int(after[1]) - int(before[1]), 1)
        this.equal("it is a whole second", (int(after[1]) + offset) % 10**9, 0)
        this.equal("time of day", after[2], datetime.fromtimestamp((int(after[1]) + offset) // 10**9).strftime("%H:%M:%S"))


def check(this):
    trace = trace_of(this)
    out, printed = export(this, trace, "mlperf-traces", "traces")
    every_row_is_told_of(this, trace, printed)
    check_calls(this, trace, out)
    check_samples(this, out)
    check_processes(this, trace, out)
    bare = this.trace("true")
    out, printed = export(this, bare, "mlperf-traces", "bare")
    this.true("missing files are named", all(f"{name} is missing" in printed for name in ("cpu.out", "iostat.json")), printed)
    this.equal("missing files", [name for name in ("cpu.out", "iostat.json") if (out / name).exists()], [])


if __name__ == "__main__":
    case.run(check)
