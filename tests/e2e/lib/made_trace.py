# SPDX-License-Identifier: Apache-2.0
"""A trace with known rows, for what writes and reads other formats: nested and crossing calls, rows at equal times, kernels
that overlap, block I/O, marks, samples, and names with every byte. The frame of it is a recorded run's."""

import json

import pyarrow
import pyarrow.parquet

HOSTILE = "a\"b\\c\n\t\x01\x7f</script>\u2028\u202e\U0001f600 '`,{}[]"
COMMON = {"proc_id": 1, "image_id": 1, "thread_id": 1, "pid": 70001, "tid": 70001}
SECOND = {"proc_id": 2, "image_id": 2, "thread_id": 2, "pid": 70002, "tid": 70002}


def filling(field):
    """What a row has that lacks the column."""
    if field.nullable:
        return None
    return "" if pyarrow.types.is_string(field.type) else False if pyarrow.types.is_boolean(field.type) else 0


def write(folder, table, rows, group=128 * 1024):
    """Replaces the rows of a table; columns that a row lacks become null, or 0."""
    old = sorted((folder / "tables" / table).glob("*.parquet"))
    schema = pyarrow.parquet.read_schema(old[0])
    for start in range(0, len(rows), group):
        part = rows[start:start + group]
        if "end_min" in schema.names:
            ends = [row["ts"] + (row.get("dur") or 0) for row in part]
            bounds = {"end_min": min(ends), "end_max": max(ends)}
            for row in part:
                row.update(bounds)
    fillings = {field.name: filling(field) for field in schema}
    for row in rows:
        row.update((name, value if row.get(name) is None else row[name]) for name, value in fillings.items())
    columns = [pyarrow.array([row[field.name] for row in rows], field.type) for field in schema]
    for path in old[1:]:
        path.unlink()
    pyarrow.parquet.write_table(pyarrow.table(columns, schema=schema), old[0], row_group_size=group, compression="zstd")
    run = json.loads((folder / "run.json").read_text())
    run["tables"][table] = 1
    (folder / "run.json").write_text(json.dumps(run))
    return rows


def process_tables(folder):
    write(folder, "process", [{"proc_id": 1, "pid": 70001, "command": f"python train.py {HOSTILE}", "role": "main"},
                              {"proc_id": 2, "pid": 70002, "parent_proc_id": 1, "command": "python loader", "role": "loader worker"}])
    write(folder, "thread", [{"thread_id": 1, "proc_id": 1, "image_id": 1, "tid": 70001, "comm": "main"},
                             {"thread_id": 2, "proc_id": 2, "image_id": 2, "tid": 70002, "comm": HOSTILE[:15]}])
    write(folder, "file", [{"file_id": 1, "path": f"/data/{HOSTILE}", "kind": "regular"}, {"file_id": 2, "path": "/data/b", "kind": "regular"}])
    write(folder, "name", [{"name_id": 1, "name": f"void kernel<{HOSTILE}>(float*)"}, {"name_id": 2, "name": "step"}])
    write(folder, "gpu", [{"gpu_id": 1, "kind": "gpu", "name": "NVIDIA H100", "uuid": "GPU-1", "nvml_index": 0}])
    write(folder, "device", [{"dev": 8, "major": 8, "minor": 0, "name": "sda", "kind": "disk"}])
    write(folder, "frame", [{"frame_id": 1, "function": f"inner<{HOSTILE}>", "library": "/lib/x.so", "label": "inner", "offset": 64, "state": "named"},
                            {"frame_id": 2, "function": "outer", "library": "/lib/x.so", "label": "outer", "source": "o.c", "line": 7, "state": "named"}])
    write(folder, "stack", [{"stack_id": 1, "depth": 0, "frame_id": 1}, {"stack_id": 1, "depth": 1, "frame_id": 2, "ending": "root"}])


def call(number, ts, dur, func, **more):
    return COMMON | {"call_id": number, "ts": ts, "dur": dur, "func": func, "offset_source": "none", "via": "function", "served_calls": 1} | more


def calls(t):
    return [call(1, t, 1000, "fread", file_id=1, ret=10**17, stack_id=1), call(2, t, 400, "read", file_id=1, ret=-1, err=5),
            call(3, t + 400, 600, "pread", file_id=2, offset=2**40),  # begins as its neighbour ends, and ends with its parent
            call(4, t + 1000, 0, "lseek"), call(5, t + 1000, 0, "lseek"), call(6, t + 1001, 99, "write"),
            call(7, t + 1050, 200, "close"),  # crosses the one before
            call(8, t + 1300, 200, HOSTILE), call(9, t + 1400, 10, "stat", **SECOND), call(10, t + 5, 3000, "poll", **SECOND)]


def gpu_rows(t):
    def launch(number, at):
        return COMMON | {"ts": t + at, "dur": 20, "correlation_id": number, "func": "cudaLaunchKernel", "api": "runtime", "source": "cupti",
                         "clock": "monotonic"}

    def kernel(number, at, dur, stream):
        return COMMON | {"ts": t + at, "dur": dur, "correlation_id": number, "gpu_id": 1, "context": 1, "stream": stream, "name_id": 1,
                         "grid_x": 8, "clock": "monotonic"}
    launches = [launch(number, 2000 + 30 * number) for number in range(1, 6)]
    # 2 lies inside of 1, 3 crosses 1, 4 begins when 1 ends; 5 has two nodes of a graph, on another stream.
    kernels = [kernel(1, 2200, 500, 7), kernel(2, 2300, 100, 7), kernel(3, 2500, 300, 7), kernel(4, 2700, 50, 7), kernel(5, 2400, 10, 8),
               kernel(5, 2410, 10, 8), kernel(99, 2900, 5, 8)]
    return launches, kernels


def block_rows(t):
    def part(at, dur, req, **more):
        return COMMON | {"ts": t + at, "dur": dur, "req_id": req, "op": "read", "dev": 8, "file_id": 1, "bytes": 4096, "comm": "python"} | more
    parts = [part(100, 250, 1, call_id=2), part(120, 230, 1, call_id=2), part(130, 300, 2, op_id=1, call_id=3)]
    requests = [{"req_id": 1, "ts": t + 100, "dur": 250, "op": "read", "dev": 8, "bytes": 8192, "issues": 1, "parts": 2},
                {"req_id": 2, "ts": t + 130, "dur": 300, "op": "read", "dev": 8, "bytes": 4096, "issues": 1, "parts": 1}]
    operations = [COMMON | {"ts": t + 50, "dur": 300, "op_id": 1, "call_id": 2, "op": "read", "dev": 8, "file_id": 1, "requested": 4096, "ret": 4096}]
    waits = [COMMON | {"ts": t + 140, "dur": 150, "state": "uninterruptible", "in_iowait": True, "op_id": 1, "cpu": 1}]
    return parts, requests, operations, waits


def mark(number, t, at, dur, **more):
    return COMMON | {"mark_id": number, "ts": t + at, "dur": dur, "domain": "nvtx", "name_id": 2, "scope": "thread", "open": False, "error_ns": 0} | more


def make(case):
    """The folder, and the rows of each table that has a place on a time line."""
    trace = case.trace("true")
    folder = trace.folder
    for table in sorted((folder / "tables").iterdir()):
        if "ts" in pyarrow.parquet.read_schema(next(table.glob("*.parquet"))).names:
            write(folder, table.name, [])
    process_tables(folder)
    t = trace.run["start_ns"] + 1_000_000_007
    launches, kernels = gpu_rows(t)
    parts, requests, operations, waits = block_rows(t)
    rows = {
        "call": calls(t), "gpu_api": launches, "gpu_kernel": kernels, "block_part": parts, "block": requests, "vfs": operations, "wait": waits,
        "mark": [mark(1, t, -10, 2000), mark(2, t, 500, None, value='{"x": 1}'), mark(3, t, 0, 9000, scope="process"),
                 mark(4, t, 3000, 9000, scope="process"), mark(5, t, 0, 100, scope="run", proc_id=None, thread_id=None, pid=None, tid=None)],
        "alloc": [COMMON | {"ts": t + 450, "dur": 5, "op": "malloc", "addr": 2**47 - 64, "size": 4096, "usable": 4096, "weight": 1.0, "stack_id": 1},
                  COMMON | {"ts": t + 460, "dur": None, "op": "free", "addr": 2**47 - 64, "size": 4096, "usable": 4096, "weight": 1.0}],
        "alloc_small": [COMMON | {"ts": t + 100, "class_bytes": 32, "mallocs": 3, "frees": 1, "bytes": 64},
                        COMMON | {"ts": t + 900, "class_bytes": 32, "mallocs": 0, "frees": 2, "bytes": -64}],
        "sample_gpu": [{"ts": t + at, "dur": 100, "gpu_id": 1, "sm_percent": at // 10, "fb_used_bytes": at} for at in (0, 100, 200)],
        "python_stack": [COMMON | {"ts": t + 300, "dur": 0, "samples": 1, "running": 1, "state": "R", "period_ns": 50_000_000, "stack_id": 1,
                                   "python_line": "train.py:12 fetch"}],
    }
    for table, of_table in rows.items():
        write(folder, table, sorted(of_table, key=lambda row: row["ts"]))
    return folder, rows, t
