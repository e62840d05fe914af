# SPDX-License-Identifier: Apache-2.0
"""The trace of a training gives the same answers with DuckDB and with pandas alone (bytes per loader worker, files by
bytes, time of calls per phase), and they match the data set."""

import duckdb
import pandas

from lib import case, training

PER_WORKER = """
SELECT p.pid, sum(c.ret) AS bytes FROM '{tables}/call/*.parquet' c JOIN '{tables}/process/*.parquet' p USING (proc_id)
JOIN '{tables}/file/*.parquet' f USING (file_id)
WHERE p.role = 'DataLoader worker' AND f.path LIKE '%/case_%.npy' AND c.func IN ('read', 'pread', 'fread') AND c.ret > 0
GROUP BY ALL ORDER BY ALL
"""
PER_FILE = """
SELECT f.path, sum(c.ret) AS bytes, count(*) AS calls
FROM '{tables}/call/*.parquet' c JOIN '{tables}/file/*.parquet' f USING (file_id)
WHERE c.func IN ('read', 'pread', 'fread') AND c.ret > 0 AND f.path LIKE '%/case_%.npy' GROUP BY ALL ORDER BY path
"""
PER_PHASE = """
SELECT ph.name, count(*) AS calls, sum(c.dur) / 1e9 AS seconds FROM '{tables}/phase/*.parquet' ph
JOIN '{tables}/call/*.parquet' c ON c.ts BETWEEN ph.ts AND ph.ts + ph.dur GROUP BY ALL ORDER BY ph.name
"""


def table(trace, name):
    return pandas.read_parquet(trace.folder / "tables" / name)


def reads_with_pandas(trace):
    calls = table(trace, "call").merge(table(trace, "file")[["file_id", "path"]], on="file_id")
    calls = calls[calls.func.isin(["read", "pread", "fread"]) & (calls.ret > 0)]
    return calls[calls.path.str.contains("/case_.*npy$")]


def check(this):
    training.need_torch()
    data, log = training.data_set(this), this.path("mllog.txt")
    trace = this.trace(*training.command(data, "--workers", 2, "--mllog", log), options=("--mllog", log))

    def ask(query):
        return duckdb.sql(query.format(tables=trace.folder / "tables")).fetchall()

    reads = reads_with_pandas(trace)
    workers = table(trace, "process").query("role == 'DataLoader worker'")
    by_worker = reads[reads.proc_id.isin(workers.proc_id)].groupby("pid").ret.sum()
    this.equal("bytes per worker", ask(PER_WORKER), [(int(pid), int(bytes_)) for pid, bytes_ in by_worker.items()])
    this.equal("workers", len(by_worker), 2 * 2)

    by_file = reads.groupby("path").ret.agg(["sum", "count"])
    expected = [(path, int(row["sum"]), int(row["count"])) for path, row in by_file.iterrows()]
    this.equal("bytes per file", ask(PER_FILE), expected)
    this.equal("files", set(by_file.index), {str(path) for path in data.glob("case_*.npy")})

    phases = {name: (calls, seconds) for name, calls, seconds in ask(PER_PHASE)}
    this.true("phases of two epochs", {"epoch 1", "eval 1", "epoch 2", "eval 2"} <= set(phases), sorted(phases))
    this.true("each has calls that took time", all(min(figures) > 0 for figures in phases.values()), phases)


if __name__ == "__main__":
    case.run(check)
