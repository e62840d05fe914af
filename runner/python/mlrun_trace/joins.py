# SPDX-License-Identifier: Apache-2.0
"""The ready-made joins, in SQL over the views of the tables (runner/trace/TABLES.md has their columns)."""

LAYERS = ("own_ns", "runq_ns", "vfs_ns", "queue_ns", "device_ns", "remote_ns", "wait_ns")

# What one row of time_by_layer() is about: the columns that name it, and where they come from.
GROUPS = {
    "run": ("", ""),
    "process": ("p.proc_id, p.role, p.rank, p.command", "LEFT JOIN process p USING (proc_id)"),
    "file": ("f.file_id, f.path", "LEFT JOIN file f USING (file_id)"),
    "function": ("c.func", ""),
}

CALLS_WITH_REQUESTS = """
SELECT c.call_id, c.ts, c.dur, c.func, c.pid, c.tid, t.comm, f.path, c.offset, c.ret, c.device_ns, c.queue_ns,
       b.req_id, b.op, b.bytes AS request_bytes, b.sector, d.name AS device, b.ts AS queued_ts, b.ts_issue, b.ts_done,
       b.ts_done - b.ts_issue AS request_device_ns, p.bio_lo, p.bio_hi
FROM block_part p JOIN block b USING (req_id) JOIN call c USING (call_id)
LEFT JOIN device d ON d.dev = b.dev LEFT JOIN file f ON f.file_id = c.file_id LEFT JOIN thread t ON t.thread_id = c.thread_id
"""

TIME_BY_FILE = """
SELECT f.file_id, f.path, f.kind, f.file_system, count(*) AS calls, sum(c.dur)::BIGINT AS time_ns,
       coalesce(sum(c.ret) FILTER (s.class = 'read' AND c.ret > 0), 0)::BIGINT AS bytes_read,
       coalesce(sum(c.ret) FILTER (s.class = 'write' AND c.ret > 0), 0)::BIGINT AS bytes_written,
       count(DISTINCT c.proc_id) AS processes
FROM call c JOIN file f USING (file_id) JOIN (SELECT DISTINCT func, class FROM summary_func) s USING (func)
GROUP BY ALL ORDER BY time_ns DESC
"""

TIME_BY_WORKER = """
SELECT p.proc_id, p.pid, p.role, p.rank, p.command, count(c.call_id) AS calls, coalesce(sum(c.dur), 0)::BIGINT AS time_ns,
       coalesce(sum(c.dur) FILTER (f.kind IN ('regular', 'directory', 'block', 'link')), 0)::BIGINT AS files_ns,
       coalesce(sum(c.dur) FILTER (f.kind IN ('pipe', 'fifo', 'socket', 'eventfd')), 0)::BIGINT AS channels_ns,
       p.last - p.first AS lived_ns
FROM process p LEFT JOIN call c USING (proc_id) LEFT JOIN file f USING (file_id) GROUP BY ALL ORDER BY p.proc_id
"""

TIME_BY_STEP = """
SELECT s.step, s.ts, s.dur, s.wait_ns, s.compute_ns, s.checkpoint_ns, s.other_ns, count(c.call_id) AS calls,
       coalesce(sum(c.dur), 0)::BIGINT AS calls_ns
FROM step s LEFT JOIN call c ON c.ts >= s.ts AND c.ts < s.ts + s.dur GROUP BY ALL ORDER BY s.step
"""

GPU_IDLE = """
SELECT g.ts, g.dur, g.gap_id, u.name AS gpu, g.label, p.role, p.command, g.pid, g.tid, t.comm, f.path, g.python_line, g.call_id, c.func,
       g.proof, g.proof_ts, g.hops, g.link
FROM gpu_idle g LEFT JOIN gpu u USING (gpu_id) LEFT JOIN process p USING (proc_id) LEFT JOIN thread t ON t.thread_id = g.thread_id
LEFT JOIN file f ON f.file_id = g.file_id LEFT JOIN call c ON c.call_id = g.call_id ORDER BY g.ts
"""

FINDINGS = """
SELECT row_number() OVER () AS number, cause, string_split(nullif(also, ''), ',') AS also, claim, explains_ns,
       nullif(low_ppm, -1) / 1e6 AS low, nullif(high_ppm, -1) / 1e6 AS high, measured_on, evidence, command, remedy,
       nullif(at_most_saved_ns, -1) AS at_most_saved_ns, nullif(against, '') AS against
FROM finding
"""


def time_by_layer(by: str) -> str:
    names, join = GROUPS[by]
    sums = ", ".join(f"coalesce(sum(c.{layer}), 0)::BIGINT AS {layer}" for layer in LAYERS)
    comma = f"{names}, " if names else ""
    group = "GROUP BY ALL ORDER BY time_ns DESC" if names else ""
    return f"""
SELECT {comma}count(*) AS calls, coalesce(sum(c.dur), 0)::BIGINT AS time_ns, {sums}
FROM call c {join} WHERE c.own_ns IS NOT NULL {group}
"""
