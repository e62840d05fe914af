# SPDX-License-Identifier: Apache-2.0
"""A file for Perfetto, read by its published descriptors, has every row of the tables with its times, name and values; slices
of a track nest, those of a stream and a device are apart; arrows join the rows that the tables join; every field is known."""

import bisect

from lib import case, made_trace, perfetto_file

PLACES = {"end_min", "end_max", "ts", "dur", "pid", "tid", "proc_id", "thread_id", "image_id"}
PREFIXES = {"vfs": "vfs ", "wait": "wait ", "block": "request ", "block_part": "bio "}
NAMES = {"call": "func", "gpu_api": "func", "alloc": "op", "vfs": "op", "wait": "state", "block": "op", "block_part": "op"}
APART = {"gpu_kernel", "block", "block_part"}
PATHS = {1: f"/data/{made_trace.HOSTILE}", 2: "/data/b"}
USUAL = {"err": 0, "flags": 0, "error_ns": 0, "depth": 0, "served_calls": 1, "via": "function", "offset_source": "none", "clock": "monotonic",
         "source": "cupti"}


def name_of(table, row):
    if table == "gpu_kernel":
        return f"void kernel<{made_trace.HOSTILE}>(float*)"
    return "step" if table == "mark" else PREFIXES.get(table, "") + row[NAMES[table]]


def args_of(table, row):
    hidden = PLACES | {NAMES.get(table, "name_id")}
    args = {key: value for key, value in row.items() if key not in hidden and value is not None and USUAL.get(key) != value
            and not (key.endswith("_ns") and value == 0)}
    if "file_id" in args:
        args["path"] = PATHS[args.pop("file_id")]
    if "file2_id" in args:
        args["path2"] = PATHS.get(args.pop("file2_id"), "")
    if "err" in args:
        args["error"] = {5: "EIO"}[args.pop("err")]
    return args


def check_nesting(this, file):
    """Written without the stack of the reader: of two slices of a track one contains the other, or they do not overlap."""
    by_track = {}
    for one in file.slices:
        by_track.setdefault(one.track, []).append(one)
    for track, slices in by_track.items():
        for i, a in enumerate(slices):
            for b in slices[i + 1:]:
                apart = a.end <= b.ts or b.end <= a.ts
                nested = (a.ts <= b.ts and b.end <= a.end) or (b.ts <= a.ts and a.end <= b.end)
                this.true(f"{file.path(track)}: do not cross", apart or (nested and a.table not in APART), (a, b))


def key(one):
    return one.table, one.name, one.ts, one.end


def arrows_of(file):
    begins = {flow: one for one in file.slices for flow in one.flows_out}
    ends = {flow: one for one in file.slices for flow in one.flows_in}
    return begins, sorted((key(begins[flow]), key(one)) for flow, one in ends.items() if flow in begins), set(ends) - set(begins)


def expected_arrows(rows):
    def keyed(table, row):
        return table, name_of(table, row), row["ts"], row["ts"] + (row.get("dur") or 0)

    found = []
    for part in rows["block_part"]:
        table, column = ("vfs", "op_id") if part.get("op_id") else ("call", "call_id")
        found += [(keyed(table, row), keyed("block_part", part)) for row in rows[table] if row[column] == part[column]]
        found += [(keyed("block", row), keyed("block_part", part)) for row in rows["block"] if row["req_id"] == part["req_id"]]
    for kernel in rows["gpu_kernel"]:
        found += [(keyed("gpu_api", row), keyed("gpu_kernel", kernel)) for row in rows["gpu_api"]
                  if row["correlation_id"] == kernel["correlation_id"]]
    return sorted(found)


def check_long_rows(this, folder, t):
    """Rows that are stored a hundred thousand rows behind those that they began with."""
    count = 140_000
    calls = [made_trace.call(number, t + 100 * number, 50, "read") for number in range(1, count)]
    calls += [made_trace.call(count + lane, t + lane, 100 * count + lane, "poll", thread_id=2, proc_id=2, tid=70002) for lane in range(3)]
    made_trace.write(folder, "call", calls, group=20_000)
    out = this.path("long.json")
    this.equal("exports", this.run(case.MLRUN, "export", folder, "--to", "chrome", "-o", out).returncode, 0)
    times, polls = [], 0
    for line in out.read_text(encoding="utf-8").splitlines():
        if '"cat":"call"' in line and '"ph":"e"' not in line:
            times.append(float(line.split('"ts":')[1].split(",")[0]))
            polls += '"poll"' in line
    this.equal("every call", (len(times), polls), (len(calls), 3))
    this.equal("in order", times, sorted(times))
    this.equal("the long ones first", bisect.bisect_right(times, times[0] + 0.002), 3)


def check(this):
    folder, rows, t = made_trace.make(this)
    out = this.path("made.pftrace")
    done = this.run(case.MLRUN, "export", folder, "--to", "perfetto", "-o", out)
    this.equal("exports", (done.returncode, done.stderr), (0, ""))
    file = perfetto_file.read(out)
    this.equal("faults", file.faults, [])
    slices = {table: [one for one in file.slices if one.table == table] for table in rows}
    for table in ("call", "gpu_api", "gpu_kernel", "block_part", "block", "vfs", "wait", "mark", "alloc"):
        wanted = sorted((name_of(table, row), row["ts"], row["ts"] + (row.get("dur") or 0), sorted(args_of(table, row).items()))
                        for row in rows[table])
        found = sorted((one.name, one.ts, one.end, sorted((name, value) for name, value in one.args.items() if value is not False))
                       for one in slices[table])
        this.equal(f"slices of {table}", found, [(*one[:3], [pair for pair in one[3] if pair[1] is not False]) for one in wanted])
        this.true(f"account of {table}", f"  {table}: {len(rows[table])} rows, {len(rows[table])} events" in done.stdout, done.stdout)
    check_nesting(this, file)
    depths = {one.args["call_id"]: one.depth for one in slices["call"]}
    this.equal("depths", [depths[number] for number in range(1, 11)], [1, 2, 2, 1, 1, 1, 0, 1, 1, 0])
    begins, arrows, dangling = arrows_of(file)
    this.equal("arrows", arrows, expected_arrows(rows))
    this.equal("each arrow", (sorted(begins), sorted(dangling), max(begins) < 2**53), (sorted(begins), [], True))
    this.equal("counters", sorted(file.counters), sorted(
        [((f"python train.py {made_trace.HOSTILE}"[:80].encode()[:80].decode(errors="ignore"), "small blocks", "live bytes"), t + at, bytes_)
         for at, bytes_ in ((100, 64), (900, 0))] +
        [(("GPU 0 NVIDIA H100", name), row["ts"], row[name]) for row in rows["sample_gpu"] for name in ("sm_percent", "fb_used_bytes")]),
        said=file.counters)
    inner, outer = f"inner<{made_trace.HOSTILE}>", "outer"
    this.equal("stacks", sorted(file.samples), sorted([
        (70001, t + 300, [outer, inner], 50_000_000, "python_stack: time"), (70001, t, [outer, inner], 1000, "call: time"),
        (70001, t + 450, [outer, inner], 4096, "alloc: bytes")]))
    clock = this.opened(folder).run["clock"]
    pairs = clock["realtime_offset_by_time"] or [[this.opened(folder).run["start_ns"], clock["realtime_offset_start_ns"]]]
    this.equal("clocks", file.clocks, [{3: at, 1: at + offset} for at, offset in pairs])
    check_long_rows(this, folder, t)


if __name__ == "__main__":
    case.run(check)
