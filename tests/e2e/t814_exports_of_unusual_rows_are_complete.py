# SPDX-License-Identifier: Apache-2.0
"""Rows that traces seldom have: pids and tids used again, times at and before 0, rows without a duration at equal times, kernels that overlap on
one stream, GPUs of one name, any byte in a name, numbers above 2^53; and traces with nothing, with GPU work or samples alone. Every format writes
each row or lists it, and independent readers take what it wrote."""

import json
import sqlite3
from fractions import Fraction


from lib import case, made_trace, perfetto_file
from lib.exported import every_row_is_told_of
from lib.otf2_check import read_archive

FORMATS = {"perfetto": "pftrace", "chrome": "json", "otf2": "otf2", "sqlite": "sqlite", "pprof": "pb.gz", "mlperf-traces": "texts", "fio": "fio"}
NUL = "nul\0inside"
BEFORE = 5_000_000_000  # the first row begins so long before 0


def exports(this, folder, name):
    """{format: what it wrote}"""
    made = {}
    for form, ending in FORMATS.items():
        made[form] = this.path(f"{name}.{ending}")
        done = this.run(case.MLRUN, "export", folder, "--to", form, "-o", made[form])
        this.equal(f"{name} as {form}", (done.returncode, done.stderr), (0, ""))
        every_row_is_told_of(this, this.opened(folder), done.stdout)
    this.equal(f"nothing else of {name}", sorted(path.name for path in this.folder.iterdir() if path.name.startswith(f"{name}.")),
               sorted(path.name for path in made.values()))
    perfetto = perfetto_file.read(made["perfetto"])
    this.equal(f"{name}: faults for Perfetto", perfetto.faults, [])
    archive = read_archive(made["otf2"])
    this.equal(f"{name}: faults of OTF2", archive.wrong, [])
    this.equal(f"{name}: the database", sqlite3.connect(made["sqlite"]).execute("PRAGMA integrity_check").fetchone(), ("ok",))
    return perfetto, json.loads(made["chrome"].read_bytes()), archive, made


def odd(this):
    folder, rows, _ = made_trace.make(this)
    # Process 3 and thread 4 have the pid and tid of others; thread 3 is a second one with its process's main tid.
    made_trace.write(folder, "process", [{"proc_id": 1, "pid": 70001, "command": "first " + "\u00e9" * 150, "role": "main"},
                                         {"proc_id": 2, "pid": 70002, "command": "", "role": "main"},
                                         {"proc_id": 3, "pid": 70001, "command": f"again {NUL}", "role": "main"}])
    made_trace.write(folder, "thread", [{"thread_id": 1, "proc_id": 1, "image_id": 1, "tid": 70001, "comm": "one"},
                                        {"thread_id": 2, "proc_id": 2, "image_id": 2, "tid": 70002, "comm": ""},
                                        {"thread_id": 3, "proc_id": 1, "image_id": 1, "tid": 70001, "comm": "one again"},
                                        {"thread_id": 4, "proc_id": 3, "image_id": 3, "tid": 70001, "comm": NUL}])
    made_trace.write(folder, "gpu", [{"gpu_id": number, "kind": "gpu", "name": "MIG 1g.10gb", "uuid": f"GPU-{number}", "nvml_index": 0} for number in (1, 2)])
    made_trace.write(folder, "file", [{"file_id": 1, "path": "/data/../../../etc/shadow", "kind": "regular"}, {"file_id": 2, "path": NUL, "kind": "regular"}])
    third, fourth = {"thread_id": 3}, {"proc_id": 3, "image_id": 3, "thread_id": 4}
    t = -BEFORE
    call = made_trace.call
    calls = [call(1, t, 0, "read", file_id=1, ret=2**62, offset=0), call(2, t, 0, "write", file_id=2, ret=5, offset=2**60), call(3, t, 4, "read", file_id=1, ret=4096, offset=0),
             call(4, t, 4, NUL), call(5, -1, 1, "read"), call(6, 0, 0, "read"), call(7, 0, 7, "read", stack_id=1), call(8, 0, 9, "read", **third, stack_id=1),
             call(9, 0, 5, "read", **fourth, stack_id=1), call(10, 5, 5, "read", **fourth), call(11, 7, 2**60, "read", ret=-2**63)]
    gpu = rows["gpu_kernel"]
    for number, kernel in enumerate(gpu):
        kernel.update(ts=10 + number % 3, dur=100 - 40 * (number % 2), gpu_id=1 + number % 2)
    samples = [{"ts": at, "dur": 1, "gpu_id": gpu_id, "sm_percent": gpu_id} for at in (0, 10) for gpu_id in (1, 2)]
    for table in rows:
        of_table = {"call": calls, "gpu_kernel": sorted(gpu, key=lambda row: row["ts"]), "sample_gpu": samples}.get(table, [])
        made_trace.write(folder, table, of_table)
    run = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(run | {"start_ns": 0}))
    return folder, calls, gpu


def check_odd(this):
    folder, calls, gpu = odd(this)
    wanted = sorted((row["ts"], row["ts"] + row["dur"]) for row in (*calls, *gpu))
    perfetto, chrome, archive, made = exports(this, folder, "odd")
    this.equal("times for Perfetto", sorted((one.ts - BEFORE, one.end - BEFORE) for one in perfetto.slices), wanted)
    this.equal("times in the archive", sorted(time - BEFORE for _, time, _, _ in archive.entered), sorted(begin for begin, _ in wanted))
    offset = chrome["baseTimeNanoseconds"] - this.opened(folder).run["clock"]["realtime_offset_start_ns"]
    begins = sorted(round(Fraction(float(event["ts"])) * 1000) + offset for event in chrome["traceEvents"] if event["ph"] in "Xb")
    this.equal("times for Chrome", begins, sorted(begin for begin, _ in wanted))
    # Each process and thread is apart, and stacks are those of their own.
    of_calls = {perfetto.path(one.track)[0] for one in perfetto.slices if one.table == "call"}
    this.equal("processes", len(of_calls), 2)
    threads = {(one.process.pid or one.thread.pid, one.thread.tid) for one in perfetto.tracks.values() if one.HasField("thread")}
    this.equal("threads with stacks", (len(perfetto.sample_threads), perfetto.sample_threads - threads), (3, set()))
    gpus = [number for number, track in perfetto.tracks.items() if track.name.startswith("GPU 0 MIG")]
    this.equal("GPUs", len(gpus), 2)
    values = sorted((perfetto.path(number)[0], value) for number, value in
                    [(track, value) for track, _, value in counters_by_track(made["perfetto"])])
    this.equal("a counter for each GPU", len(values), 2)
    names = {region.name for _, _, region, _ in archive.entered}
    this.true("a name with NUL", "nul\\x00inside" in names, names)
    this.true("and in JSON", any(event.get("name") == NUL for event in chrome["traceEvents"]))
    lines = (made["fio"] / "files.sh").read_text() + "".join(path.read_text() for path in made["fio"].glob("*.log"))
    this.true("a replay stays in its folder", ".." not in lines and "files/by_id/1" in lines, lines)


def counters_by_track(path):
    """(track, name, values) of each counter's track."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as descriptors
    trace, found = descriptors.Trace(), {}
    trace.ParseFromString(path.read_bytes())
    for packet in trace.packet:
        if packet.track_event.type == descriptors.TrackEvent.TYPE_COUNTER:
            found.setdefault(packet.track_event.track_uuid, set()).add(packet.track_event.counter_value)
    return [(track, "", next(iter(values))) for track, values in found.items() if len(values) == 1]


def check_few(this):
    """With nothing at all, with GPU work alone, with samples alone."""
    folder, rows, _ = made_trace.make(this)
    for name, kept in (("nothing", ()), ("gpu", ("gpu_kernel",)), ("samples", ("sample_gpu", "python_stack", "alloc_small"))):
        for table in rows:
            made_trace.write(folder, table, rows[table] if table in kept else [])
        if name == "nothing":
            for table in ("process", "thread", "file", "name", "gpu", "device", "frame", "stack"):
                made_trace.write(folder, table, [])
        else:
            made_trace.process_tables(folder)
        perfetto, chrome, archive, _ = exports(this, folder, name)
        this.equal(f"{name}: slices", len(perfetto.slices), sum(len(rows[table]) for table in kept if table == "gpu_kernel"))
        this.equal(f"{name}: regions", len(archive.entered), len(perfetto.slices))
        counted = sum(event["ph"] in "Xb" for event in chrome["traceEvents"])
        this.equal(f"{name}: JSON", counted, len(perfetto.slices))


def check(this):
    check_odd(this)
    check_few(this)


if __name__ == "__main__":
    case.run(check)
