# SPDX-License-Identifier: Apache-2.0
"""--split makes files that are complete by themselves, and have each row once. --from, --until and --process at the edges of rows leave no half of anything: no begin
without its end, no arrow that hangs; what they leave out is counted."""

import gzip
import json
from collections import Counter

from lib import case, made_trace, perfetto_file
from lib.exported import every_row_is_told_of, export

T = 1_000_000_007  # of the first row, since the start of the command


def perfetto_rows(path):
    file = perfetto_file.read(path)
    begins = Counter(flow for one in file.slices for flow in one.flows_out)
    ends = Counter(flow for one in file.slices for flow in one.flows_in)
    return file.faults, Counter((one.table, one.ts, one.end) for one in file.slices), begins, ends


def chrome_rows(events, base):
    """Slices and points; an async event without its end, or an end without it, is a fault."""
    open_, faults, found = {}, [], Counter()
    for event in events:
        if event["ph"] in "MsfC" or event.get("cat") == "python_stack":
            continue
        ts = round(event["ts"] * 1000) + base
        if event["ph"] == "b":
            open_[event["id2"]["local"]] = ts
        elif event["ph"] == "e" and event["id2"]["local"] not in open_:
            faults.append(event)
        elif event["ph"] == "e":
            found[event["cat"], open_.pop(event["id2"]["local"]), ts] += 1
        else:
            found[event["cat"], ts, ts + round(event.get("dur", 0) * 1000)] += 1
    return [*faults, *open_], found


def flows(events, phase):
    return Counter(event["id"] for event in events if event["ph"] == phase)


def check_parts(this, trace):
    whole, _ = export(this, trace, "perfetto", "whole.pftrace")
    faults, rows, begins, _ = perfetto_rows(whole)
    this.equal("whole", faults, [])
    split, printed = export(this, trace, "perfetto", "split.pftrace", "--split", "1500B")
    every_row_is_told_of(this, trace, printed)
    parts = sorted(split.iterdir())
    this.true("several files", [path.name for path in parts] == [f"part-{number:03}.pftrace" for number in range(1, len(parts) + 1)] and len(parts) > 3, parts)
    of_parts = Counter()
    drawn = 0
    for path in parts:
        faults, found, begins, ends = perfetto_rows(path)
        this.equal(f"faults of {path.name}", faults, [])
        this.equal(f"arrows of {path.name} that only end", ends - begins, Counter())
        of_parts += found
        drawn += sum(ends.values())
    this.equal("each row once", of_parts, rows)
    this.true("arrows", f"arrows: {drawn};" in printed, printed)

    whole, _ = export(this, trace, "chrome", "whole.json")
    events = json.loads(whole.read_bytes())
    base = events["baseTimeNanoseconds"]
    faults, rows = chrome_rows(events["traceEvents"], base)
    this.equal("whole JSON", faults, [])
    for name in ("split.json", "split.json.gz"):
        split, _ = export(this, trace, "chrome", name, "--split", "2K")
        of_parts = Counter()
        for path in sorted(split.iterdir()):
            this.true("named as what it is", path.name.endswith(name.removeprefix("split")), path)
            part = json.loads(gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes())
            this.equal("one base", part["baseTimeNanoseconds"], base)
            faults, found = chrome_rows(part["traceEvents"], base)
            this.equal(f"faults of {path}", faults, [])
            of_parts += found
            this.true("frames", all(event.get("sf", "") in part["stackFrames"] for event in part["traceEvents"] if "sf" in event), path)
            this.true("names", {event["pid"] for event in part["traceEvents"] if event.get("name") == "process_name"} >= {event["pid"] for event in part["traceEvents"] if event["ph"] == "X"}, path)
        this.equal(f"{name}: each row once", of_parts, rows)


def check_edges(this, folder, trace, rows, t):
    """From and until at every begin and end of a call, of a request and of a launch."""
    edges = sorted({edge for row in (*rows["call"][:5], *rows["block"], *rows["gpu_api"][:1]) for edge in (row["ts"], row["ts"] + row["dur"])})
    for number, edge in enumerate(edges):
        for options, wanted in ((("--from", f"{T + edge - t}ns"), lambda row, edge=edge: row["ts"] + (row.get("dur") or 0) >= edge),
                                (("--until", f"{T + edge - t}ns"), lambda row, edge=edge: row["ts"] < edge)):
            name = f"edge{number}{options[0]}"
            out, printed = export(this, trace, "perfetto", f"{name}.pftrace", *options)
            every_row_is_told_of(this, trace, printed)
            faults, found, begins, ends = perfetto_rows(out)
            this.equal(f"{options}: faults", faults, [])
            this.equal(f"{options}: arrows", begins, ends)
            calls = Counter((row["ts"], row["ts"] + row["dur"]) for row in rows["call"] if wanted(row))
            this.equal(f"{options}: calls", Counter(key[1:] for key in found.elements() if key[0] == "call"), calls)
    out, printed = export(this, trace, "chrome", "process.json", "--process", "70002", "--from", "0s")
    every_row_is_told_of(this, trace, printed)
    events = json.loads(out.read_bytes())["traceEvents"]
    this.equal("arrows of one process", flows(events, "s"), flows(events, "f"))
    this.equal("its calls", sorted(event["args"]["call_id"] for event in events if event.get("cat") == "call" and event["ph"] in "Xb"), [9, 10])


def check_errors(this, folder):
    for options, reason in ((("--split", "x"), "--split"), (("--split", "0"), "--split"), (("--until", "999999999999h"), None), (("--from", "999999999999h"), None)):
        done = this.run(case.MLRUN, "export", folder, "--to", "chrome", "-o", f"wrong{options[1]}.json", *options)
        this.equal(f"{options}", (done.returncode, done.stderr.count("\n")), (125, 1) if reason else (done.returncode, done.returncode // 125), said=done.stderr)
    done = this.run(case.MLRUN, "export", folder, "--to", "otf2", "-o", "wrong", "--split", "1M")
    this.equal("--split of an archive", (done.returncode, "--split is for perfetto and chrome" in done.stderr), (125, True), said=done.stderr)


def check(this):
    folder, rows, t = made_trace.make(this)
    trace = this.opened(folder)
    check_parts(this, trace)
    check_edges(this, folder, trace, rows, t)
    check_errors(this, folder)


if __name__ == "__main__":
    case.run(check)
