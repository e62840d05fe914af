# SPDX-License-Identifier: Apache-2.0
"""A file for Chrome is read by two JSON parsers with the same result, whatever bytes names have; times are exact to the
nanosecond also in doubles, ids are below 2^53, rows that overlap are async events, and gzip holds the same."""

import gzip
import json
from collections import Counter, defaultdict
from fractions import Fraction

import duckdb

from lib import case, made_trace


def export(this, folder, name):
    out = this.path(name)
    done = this.run(case.MLRUN, "export", folder, "--to", "chrome", "-o", out)
    this.equal("exports", (done.returncode, done.stderr), (0, ""))
    return out, done.stdout


def ns(value, base):
    """From the double that JavaScript has of it."""
    return round(Fraction(float(value)) * 1000) + base


def slices_of(events, base):
    found, open_ = [], {}
    for event in events:
        if event["ph"] == "X":
            begin = ns(event["ts"], base)
            found.append((event["cat"], event["name"], begin, begin + round(Fraction(float(event["dur"])) * 1000)))
        elif event["ph"] == "b":
            open_[event["id2"]["local"]] = (event["cat"], event["name"], ns(event["ts"], base))
        elif event["ph"] == "e":
            found.append((*open_.pop(event["id2"]["local"]), ns(event["ts"], base)))
        elif event["ph"] == "i" and event["cat"] != "python_stack":
            found.append((event["cat"], event["name"], ns(event["ts"], base), ns(event["ts"], base)))
    return sorted(found), open_


def check_apart(this, events):
    by_thread = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            begin = Fraction(str(event["ts"]))
            by_thread[event["pid"], event["tid"]].append((begin, begin + Fraction(str(event["dur"]))))
    for thread, slices in by_thread.items():
        for i, (begin, end) in enumerate(slices):
            crossing = [other for other in slices[i + 1:] if begin < other[0] < end < other[1] or other[0] < begin < other[1] < end]
            this.equal(f"{thread}: slices that cross", crossing, [])


def check_second_parser(this, path, events):
    """DuckDB's parser (yyjson) gives the same events."""
    rows = duckdb.sql(f"""SELECT e->>'$.ph', e->>'$.name', e->>'$.cat', e->>'$.ts', e->>'$.args.path' FROM
        (SELECT unnest(json_extract(content, '$.traceEvents[*]')) AS e FROM read_text('{path}'))""").fetchall()
    mine = [(event["ph"], event.get("name"), event.get("cat"), event.get("ts"), event.get("args", {}).get("path")) for event in events]
    this.equal("DuckDB's events", [(*row[:3], None if row[3] is None else float(row[3]), row[4]) for row in rows], mine)


def check(this):
    folder, rows, _ = made_trace.make(this)
    path, said = export(this, folder, "made.json")
    text = path.read_bytes()
    this.true("UTF-8 without control characters", not any(byte < 32 and byte != 10 for byte in text), text[:200])
    trace = json.loads(text)
    events = trace["traceEvents"]
    base = trace["baseTimeNanoseconds"]
    this.equal("the base is exact in a double", int(float(base)), base)
    base -= this.opened(folder).run["clock"]["realtime_offset_start_ns"]
    found, open_ = slices_of(events, base)
    this.equal("async events that do not end", open_, {})
    names = {"gpu_kernel": lambda _: f"void kernel<{made_trace.HOSTILE}>(float*)", "mark": lambda _: "step", "wait": lambda row: f"wait {row['state']}",
             "block": lambda row: f"request {row['op']}", "block_part": lambda row: f"bio {row['op']}", "vfs": lambda row: f"vfs {row['op']}",
             "alloc": lambda row: row["op"]}
    wanted = sorted((table, names.get(table, lambda row: row["func"])(row), row["ts"], row["ts"] + (row.get("dur") or 0))
                    for table in ("call", "gpu_api", "gpu_kernel", "block_part", "block", "vfs", "wait", "mark", "alloc") for row in rows[table])
    this.equal("rows", found, wanted)
    check_apart(this, events)
    this.true("async where rows overlap", {event["cat"] for event in events if event["ph"] == "b"} >= {"call", "gpu_kernel", "block_part", "mark"},
              Counter((event["ph"], event.get("cat")) for event in events))
    flows = Counter(event["ph"] for event in events if event["ph"] in "sf")
    unbound = sum(int(word) for line in said.splitlines() if "arrows not written" in line for word in line.split() if word.isdigit())
    arrows = 2 * len(rows["block_part"]) + len(rows["gpu_kernel"]) - 1
    this.equal("arrows", flows["f"] + unbound, arrows)
    this.true("bound by the enclosing slice", all(event["bp"] == "e" for event in events if event["ph"] == "f"), flows)
    numbers = [event[key] for event in events for key in ("id", "pid", "tid") if isinstance(event.get(key), int)]
    this.true("ids are exact in a double", 0 <= min(numbers) and max(numbers) < 2**53, max(numbers))
    values = [event["args"].get("ret") for event in events if event.get("cat") == "call" and "args" in event]
    this.true("a number that a double does not hold is a text", str(10**17) in values, values)
    frames = trace["stackFrames"]
    stacked = next(event for event in events if event.get("name") == "fread")
    this.equal("the stack", [frames[stacked["sf"]]["name"], frames[frames[stacked["sf"]]["parent"]]["name"]], ["inner", "outer"])
    check_second_parser(this, path, events)
    packed, _ = export(this, folder, "made.json.gz")
    this.equal("gzip", gzip.decompress(packed.read_bytes()), text)


if __name__ == "__main__":
    case.run(check)
