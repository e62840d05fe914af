# SPDX-License-Identifier: Apache-2.0
"""Checks of block_check.py for runs with too small tables of requests in flight or of remembered writers: rows and
the counts in `loss` add up to everything, and the reason is given."""

import re
from collections import Counter

from traces import OUT, Run, check, equal, report
from lib.trace import Trace

PAGE = 4096
LATER = 8  # flag of an operation: it was handed in
FULL = "too much in flight at once"


def lost_in(trace):
    """The rows, and how many by reason and unit."""
    rows = [row for row in trace.rows("loss") if row["channel"] == "kernel side"]
    lost = Counter()
    for row in rows:
        lost[row["reason"], row["unit"]] += row["count"]
    return rows, lost


def said(name, *words):
    text = " ".join(report(name).split())
    check(f"{name}: the summary says so", all(word in text for word in words), text)


def asked_of_disk(name):
    """Reads of it and those that were merged, while it ran."""
    before, after = ([int(word) for word in (OUT / f"{name}.{when}").read_text().split()] for when in ("before", "after"))
    return sum(after[:2]) - sum(before[:2])


def are_within(what, rows, spans):
    begin, end = min(row["ts"] for row in spans), max(row["ts"] + row["dur"] for row in spans)
    check(f"{what}: when", all(0 < row["first"] <= row["last"] and begin <= row["last"] <= end for row in rows), (begin, end, rows))


def crowded():
    """What found no room in the tables of what is on its way is counted, by kind and processor, with the time."""
    trace = Trace(OUT / "crowded")
    parts = [row for row in trace.rows("block_part") if row["bytes"] == PAGE]
    rows, lost = lost_in(trace)
    equal("crowded: what fio asked for", asked_of_disk("crowded"), 96)
    check("crowded: some found room and some none", len(parts) >= 8 and lost[FULL, "bio fragments"] >= 24 and
          lost[FULL, "requests"] >= 24, (len(parts), lost))
    equal("crowded: parts and those that were lost are all", len(parts) + lost[FULL, "bio fragments"], 96)
    of_parts = [row for row in rows if (row["reason"], row["unit"]) == (FULL, "bio fragments")]
    equal("crowded: on which processor", {row["cpu"] for row in of_parts}, {int((OUT / "crowded.processor").read_text())})
    are_within("crowded", of_parts, parts)
    handed_in = [row for row in trace.rows("vfs") if row["op"] == "read" and row["flags"] & LATER]
    ended = [row for row in handed_in if row["ts_done"]]
    equal("crowded: reads that were handed in", len(handed_in), 96)
    check("crowded: of some the end is seen", 8 <= len(ended) <= 72, len(ended))
    equal("crowded: and the others are counted", lost[FULL, "completions of file operations"], 96 - len(ended))
    said("crowded", FULL, "bio fragments", "completions of file operations")


def served():
    """Requests to a server, of calls and others, that found no room. What was asked just before the program began is only the kernel's."""
    trace = Trace(OUT / "served")
    reads = {row["call_id"] for row in trace.rows("call") if row["requested"] == PAGE and
             trace.paths.get(row["file_id"]) == "/run/out/served.data"}
    rows = [row for row in trace.rows("remote") if row["protocol"] == "9p"]
    reported = {row["call_id"] for row in rows if row["op"] == "read"} & reads
    lost = lost_in(trace)[1][FULL, "remote requests"]
    threads = {row["tid"] for row in trace.rows("thread")}
    begun = sum(int(tid) in threads for tid in re.findall(r"-(\d+) .*9p_client_req: ", (OUT / "served.events").read_text()))
    equal("served: reads", len(reads), 128)
    check("served: some found no room", 1 <= len(reported) < len(reads), len(reported))
    check("served: and all of these are counted", len(reads - reported) <= lost <= begun - len(rows), (len(reported), lost, begun, len(rows)))
    said("served", FULL, "remote requests")


def forgotten():
    """Pages whose writer is not remembered any more when they are written."""
    why, unit = "the process that dirtied their pages is unknown (at most this many)", "bio fragments"
    trace = Trace(OUT / "forgotten")
    files = {int(line.split()[1]) for line in (OUT / "forgotten.inodes").read_text().splitlines()}
    parts = [row for row in trace.rows("block_part") if row["ino"] in files and row["op"] == "write"]
    rows, lost = lost_in(trace)
    equal("forgotten: files", len(files), 64)
    check("forgotten: of some the writer is known", 1 <= len(parts) <= 8, len(parts))
    equal("forgotten: whose they are", {(row["comm"], row["bytes"]) for row in parts}, {("bash", PAGE)})
    equal("forgotten: and the others are counted, but no stranger's", lost, {(why, unit): 64 - len(parts)})
    check("forgotten: when", all(0 < row["first"] <= row["last"] for row in rows), rows)
    said("forgotten", why, unit)


def displaced():
    """Bios of a stacked device that were evicted from the table before they were remapped."""
    why, unit = "too many at once to follow to the devices below", "bios of stacked devices"
    for name, most in (("displaced", 72), ("delayed", 96)):
        trace = Trace(OUT / name)
        below = [row for row in trace.rows("block_part") if row["bytes"] == PAGE]
        rows, lost = lost_in(trace)
        equal(f"{name}: what fio asked for", asked_of_disk(name), 96)
        check(f"{name}: some are known", 8 <= len(below) <= most, len(below))
        equal(f"{name}: and the others are counted", lost, {(why, unit): 96 - len(below)} if len(below) < 96 else {})
        if rows:
            are_within(name, rows, trace.rows("block_part"))
            said(name, why, unit)
    equal("delayed: all are known", len(Run("delayed").requests) >= 1 and len(below), 96)


TESTS = (crowded, served, forgotten, displaced)
