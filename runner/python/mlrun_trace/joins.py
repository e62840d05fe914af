# SPDX-License-Identifier: Apache-2.0
"""The ready-made joins, in SQL over the views of the tables (runner/trace/TABLES.md has their columns)."""

LAYERS = ("own_ns", "runq_ns", "vfs_ns", "queue_ns", "device_ns", "remote_ns", "wait_ns")

# For each kind of row of time_by_layer(): the key column in `call`, further columns that name the row, and the join that provides them.
GROUPS = {
    "run": ("", "", ""),
    "process": ("proc_id", "p.role, p.rank, p.command, ", "LEFT JOIN process p USING (proc_id)"),
    "file": ("file_id", "f.path, ", "LEFT JOIN file f USING (file_id)"),
    "function": ("func", "", ""),
}

CALLS_WITH_REQUESTS = """
SELECT c.call_id, c.ts, c.dur, c.func, c.pid, c.tid, t.comm, f.path, c.offset, c.ret, c.device_ns, c.queue_ns,
       b.req_id, b.op, b.bytes AS request_bytes, b.sector, d.name AS device, b.ts AS queued_ts, b.ts_issue, b.ts_done,
       b.ts_done - b.ts_issue AS request_device_ns, p.bio_lo, p.bio_hi
FROM block_part p JOIN block b USING (req_id) JOIN call c USING (call_id)
LEFT JOIN device d ON d.dev = b.dev{device_node} LEFT JOIN file f ON f.file_id = c.file_id LEFT JOIN thread t ON t.thread_id = c.thread_id
"""

# Numbers are added up before texts are joined, since a trace may have millions of files.
TIME_BY_FILE = """
WITH each AS (
  SELECT c.file_id, c.proc_id, count(*) AS calls, sum(c.dur) AS time_ns, sum(c.ret) FILTER (s.class = 'read' AND c.ret > 0) AS bytes_read,
         sum(c.ret) FILTER (s.class = 'write' AND c.ret > 0) AS bytes_written
  FROM call c JOIN (SELECT DISTINCT func, class FROM summary_func) s USING (func) WHERE c.file_id IS NOT NULL GROUP BY ALL),
total AS (
  SELECT file_id, sum(calls)::BIGINT AS calls, sum(time_ns)::BIGINT AS time_ns, coalesce(sum(bytes_read), 0)::BIGINT AS bytes_read,
         coalesce(sum(bytes_written), 0)::BIGINT AS bytes_written, count(*) AS processes
  FROM each GROUP BY file_id)
SELECT f.file_id, f.path, f.kind, f.file_system, t.calls, t.time_ns, t.bytes_read, t.bytes_written, t.processes
FROM total t JOIN file f USING (file_id) ORDER BY t.time_ns DESC
"""

TIME_BY_WORKER = """
SELECT p.proc_id, p.pid, p.role, p.rank, p.command, count(c.call_id) AS calls, coalesce(sum(c.dur), 0)::BIGINT AS time_ns,
       coalesce(sum(c.dur) FILTER (f.kind IN ('regular', 'directory', 'block', 'link')), 0)::BIGINT AS files_ns,
       coalesce(sum(c.dur) FILTER (f.kind IN ('pipe', 'fifo', 'socket', 'eventfd')), 0)::BIGINT AS channels_ns,
       p.last - p.first AS lived_ns
FROM process p LEFT JOIN call c USING (proc_id) LEFT JOIN file f USING (file_id) GROUP BY ALL ORDER BY p.proc_id
"""

# Calls and steps are joined by slices of time, for speed: steps do not overlap, and a slice overlaps few steps.
TIME_BY_STEP = """
WITH slice AS (SELECT greatest(1, (max(ts + dur) - min(ts)) // (2 * count(*))) AS width FROM step),
sliced AS (SELECT step, ts, dur, width{node}, unnest(range(ts // width, (ts + dur) // width + 1)) AS number FROM step, slice),
begun AS (
  SELECT {of_node}s.step, count(*) AS calls, sum(c.dur) AS calls_ns
  FROM (SELECT ts, dur{node}, ts // (SELECT width FROM slice) AS number FROM call) c JOIN sliced s ON s.number = c.number AND c.ts >= s.ts AND c.ts < s.ts + s.dur{step_node}
  GROUP BY ALL)
SELECT {of_node}s.step, s.ts, s.dur, s.wait_ns, s.compute_ns, s.checkpoint_ns, s.other_ns, coalesce(b.calls, 0) AS calls, coalesce(b.calls_ns, 0)::BIGINT AS calls_ns
FROM step s LEFT JOIN begun b USING (step{node}) ORDER BY {of_node}s.step
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


def by_node(query: str, merged: bool) -> str:
    """The query; for a merged trace with node_id added to its keys, since ids are only unique within a node."""
    parts = {"node": ", node_id", "of_node": "s.node_id, ", "step_node": " AND c.node_id = s.node_id", "device_node": " AND d.node_id = b.node_id"}
    return query.format(**(parts if merged else dict.fromkeys(parts, "")))


def time_by_layer(by: str) -> str:
    key, names, join = GROUPS[by]
    sums = ", ".join(f"coalesce(sum({layer}), 0)::BIGINT AS {layer}" for layer in LAYERS)
    total = f"SELECT {key + ', ' if key else ''}count(*) AS calls, coalesce(sum(dur), 0)::BIGINT AS time_ns, {sums} FROM call WHERE own_ns IS NOT NULL"
    if not key:
        return total
    return f"SELECT t.{key}, {names}t.* EXCLUDE ({key}) FROM ({total} GROUP BY {key}) t {join} ORDER BY t.time_ns DESC"
