# SPDX-License-Identifier: Apache-2.0
"""Traces as they arrive from a cluster: cut off, half copied, with a file that is damaged inside, an empty folder, a file in place of a folder, a merged
trace, one name for two runs of two days, a run of other sizes, machines from one snapshot, a wall clock that was set, an offset that is none. One
line each, exit status 0 where two traces are left to merge, and 125 with nothing left behind where not."""

import os
import shutil

from lib import case, nodes
from t856_merges_of_unusual_traces_are_correct_or_one_line import MS, Traces, write_rows

HOURS = 3600 * 1000 * MS


def check(this):
    this.mlrun = case.MLRUN
    traces = Traces(this)
    damaged(this, traces)
    folders(this, traces)
    two_runs(this, traces)
    clocks(this, traces)
    snapshot(this, traces)
    output(this, traces)
    offsets(this, traces)


def is_left_out(this, what, lines, *words):
    this.true(f"{what}: one line", len(lines) == 1 and "left out" in lines[0] and all(word in lines[0] for word in words), lines)


def file_of(trace, table):
    [path] = (trace / "tables" / table).glob("*.parquet")
    return path


def overwrite(path, begin, end):
    """The bytes between two shares of the file, as a broken disk or transfer leaves them."""
    data = bytearray(path.read_bytes())
    first, last = int(len(data) * begin), int(len(data) * end)
    data[first:last] = b"\xa5" * (last - first)
    path.write_bytes(data)


def damaged(this, traces):
    whole, beside = traces.pair()
    for table in ("call", "process", "summary_file", "sample_machine"):
        cut = traces.copy()
        path = file_of(cut, table)
        path.write_bytes(path.read_bytes()[:-20])
        is_left_out(this, f"{table} cut off", traces.merge(whole, beside, cut), str(cut), "is cut off", "copy it again")
        this.equal("the rest is merged", len(nodes.merged(traces.out)["nodes"]), 2)
    inside = traces.copy()
    for trace, rows in ((whole, 1), (beside, 1), (inside, 20_000)):
        write_rows(trace, "call", *({"func": "read", "ts": traces.start_ns + at * MS, "dur": at * at, "ret": at * 7919 % 65_536} for at in range(rows)))
    overwrite(file_of(inside, "call"), 0.1, 0.6)
    for order in ((whole, beside, inside), (inside, whole, beside)):
        is_left_out(this, "damaged inside", traces.merge(*order), str(inside), str(file_of(inside, "call")))
        this.equal("the rest is merged", [row["trace"] for row in nodes.merged(traces.out)["nodes"]], [str(whole), str(beside)])
        this.equal("with its rows alone", [row["node_id"] for row in this.opened(traces.out).rows("call")], [1, 2])
    lines = traces.merge(whole, inside, status=125)
    this.true("one is left", len(lines) == 2 and str(inside) in lines[0] and "of 2 traces only one is left" in lines[1] and not traces.out.exists(), lines)
    lines = traces.merge(inside, status=125)
    this.true("nothing but it", len(lines) == 1 and "is damaged" in lines[0] and not traces.out.exists(), lines)
    footer = traces.copy()
    overwrite(file_of(footer, "file"), 0.9, 0.97)
    lines = traces.merge(whole, beside, footer)
    this.true("a damaged footer", len(lines) == 1 and str(footer) in lines[0] and "left out" in lines[0], lines)
    half = traces.copy()
    shutil.rmtree(half / "tables" / "thread")
    is_left_out(this, "half copied", traces.merge(whole, beside, half), str(half), "'thread' 1 of 1 files are missing")
    shutil.rmtree(half / "tables")
    is_left_out(this, "no tables", traces.merge(whole, beside, half), str(half))
    text = traces.copy()
    (text / "run.json").write_text((text / "run.json").read_text()[:100])
    is_left_out(this, "run.json cut off", traces.merge(whole, beside, text), str(text), "run.json")


def folders(this, traces):
    (whole, beside), empty = traces.pair(), this.path("empty")
    empty.mkdir()
    is_left_out(this, "an empty folder", traces.merge(whole, beside, empty), f"{empty} holds no trace")
    is_left_out(this, "a file", traces.merge(whole, beside, whole / "run.json"), "is a file; name the folder of a trace")
    traces.merge(whole, traces.copy())
    merged = traces.out
    is_left_out(this, "a merged one", traces.merge(whole, beside, merged), f"{merged} is merged already; give the traces that it was made of")
    traces.merge(whole)
    this.equal("one node", len(nodes.merged(traces.out)["nodes"]), 1)
    again = this.path("again")
    again.symlink_to(whole)
    is_left_out(this, "one trace under two names", traces.merge(whole, beside, again), f"it is the same trace as {whole}")
    moved = nodes.copy_of(whole, this.path("moved"))
    is_left_out(this, "a copy of it", traces.merge(whole, beside, moved), f"it is the same trace as {whole}")


def two_runs(this, traces):
    clock = this.opened(traces.first).run["clock"]
    yesterday = clock | {f"realtime_offset_{when}_ns": clock[f"realtime_offset_{when}_ns"] - 24 * HOURS for when in ("start", "end")}
    job = {"id": "training", "source": {"id": "TORCHELASTIC_RUN_ID"}}
    today = [traces.copy(job=job) for _ in range(2)]
    old = traces.copy(job=job, clock=yesterday)
    lines = traces.merge(old, *today)
    is_left_out(this, "one name on two days", lines[:1], f"{old} is left out: it did not run at the time of {today[0]}")
    this.equal("most are the run", len(nodes.merged(traces.out)["nodes"]), 2)


def clocks(this, traces):
    """A wall clock that was set by 3 s between the ends of the run, though NTP says that it is right at both."""
    clock = this.opened(traces.first).run["clock"]
    for when in ("start", "end"):
        clock[when]["discipline"] = {"is_synchronised": True, "max_error_ns": MS}
    was_set = clock | {"realtime_offset_end_ns": clock["realtime_offset_end_ns"] + 3000 * MS}
    lines = traces.merge(traces.copy(clock=clock), traces.copy(clock=was_set))
    this.true("a clock that was set", len(lines) == 1 and "a wall clock was set during the run" in lines[0], lines)
    this.true("it is in the error", traces.node()["error_ns"] > 1000 * MS, traces.node())
    named = [traces.with_marks((0, 10), (20, 30)), traces.copy()]
    lines = traces.merge(*named, options=["--marks", "barrier"])
    this.true("marks of one node alone", any('has no range "barrier"' in line and str(named[1]) in line for line in lines), lines)
    this.equal("both are merged", len(nodes.merged(traces.out)["nodes"]), 2)


def snapshot(this, traces):
    """Two machines that were started from one snapshot have one boot id. The second's clock is 10 s ahead, and its wall clock knows."""
    run, ahead_ns = this.opened(traces.first).run, 10_000 * MS
    calls = [[("connect", 0, 1, 0), ("sendto", 2, 1, 100), ("recvfrom", 4, 2, 50)],
             [("accept4", 0, 1, 3), ("recvfrom", 2, 2, 100), ("sendto", 4, 1, 50)]]
    ends = ["10.0.0.1:5000", "10.0.0.2:80"]
    for true_ns, by in ((ahead_ns, "messages"), (0, "same clock")):
        pair = []
        for number in range(2):
            shift = number * ahead_ns
            clock = run["clock"] | {f"realtime_offset_{when}_ns": run["clock"][f"realtime_offset_{when}_ns"] - number * true_ns
                                    for when in ("start", "end")}
            trace = traces.copy(host=run["host"] | {"boot_id": "snapshot", "name": f"machine{number}"}, clock=clock,
                                start_ns=run["start_ns"] + shift, end_ns=run["end_ns"] + shift)
            write_rows(trace, "file", {"file_id": 1, "own_address": ends[number], "address": ends[1 - number]})
            write_rows(trace, "call", *({"func": func, "ts": traces.start_ns + shift + at * MS, "dur": dur * MS, "ret": ret, "file_id": 1}
                                        for func, at, dur, ret in calls[number]))
            pair.append(trace)
        lines = traces.merge(*pair)
        this.equal("known by", traces.node()["aligned_by"], by, said=str(lines))
        said = [line for line in lines if "machine0 and machine1 have one boot id, but by one clock a message between them would arrive 10.0 s" in line]
        this.equal("said", len(said), 1 if by == "messages" else 0, said=str(lines))
        if by == "messages":
            this.true("the true offset is within the error", abs(traces.node()["offset_ns"] - ahead_ns) <= traces.node()["error_ns"] < 10 * MS, traces.node())


def output(this, traces):
    pair = [traces.copy(), traces.copy()]
    for name, make, word in (("a file", lambda path: path.write_text("x"), "is a file"),
                             ("full", lambda path: (path.mkdir(), (path / "x").touch()), "holds something already")):
        out = this.path(name)
        make(out)
        done = this.run(case.MLRUN, "merge", *pair, "-o", out)
        this.true(f"the output is {name}", done.returncode == 125 and word in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    out = this.path("made before")
    out.mkdir()
    overwritten = traces.copy()
    overwrite(file_of(overwritten, "file"), 0.1, 0.9)
    done = this.run(case.MLRUN, "merge", overwritten, "-o", out)
    this.equal("an empty folder of the user's own stays, empty", (done.returncode, list(out.iterdir())), (125, []), said=done.stderr)
    if os.geteuid() == 0:
        done = this.run(case.MLRUN, "merge", *pair, "-o", "/proc/none")
        this.true("it cannot be made", done.returncode == 125 and "/proc/none" in done.stderr and done.stderr.count("\n") == 1, done.stderr)


def offsets(this, traces):
    pair = [traces.copy(), traces.copy()]
    for text, offset_ns in (("1500ms", -1500 * MS), ("+1.5s", -1500 * MS), ("-20us", 20_000), ("+1h", -HOURS), ("-0s", 0)):
        traces.merge(*pair, options=[f"--offset={text}"])
        this.equal(f"--offset={text}", traces.node()["offset_ns"], offset_ns)
    for text in ("1500", "ms", "1.5", "1.s", "--5s", "+-5s", "5 s", "9000000000s", "1e3s"):
        lines = traces.merge(*pair, options=[f"--offset={text}"], status=125)
        this.true(f"--offset={text}", len(lines) == 1 and "--offset" in lines[0] and not traces.out.exists(), lines)


if __name__ == "__main__":
    case.run(check)
