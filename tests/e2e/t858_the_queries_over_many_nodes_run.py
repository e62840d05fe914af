# SPDX-License-Identifier: Apache-2.0
"""Each query of cluster.md over many nodes, as it is written there, on a merged trace: DuckDB's by DuckDB, Spark's by its Spark interface,
and ClickHouse's by DuckDB too, but for the function that names the files. The sums are those of PyArrow."""

import contextlib
import io
import os
import re
import sys

import duckdb
from duckdb.experimental.spark.sql import SparkSession
from lib import case, documents, nodes

PAGE = case.SOURCE / "runner" / "sweep" / "cluster.md"
PROGRAM = "import sys; [open(sys.argv[1], 'rb').read() for _ in range(int(sys.argv[2]))]"


def blocks(language):
    return documents.fenced(PAGE, language)


def check(this):
    this.mlrun = case.MLRUN
    job = this.path("shared") / "job-4711"
    job.mkdir(parents=True)
    for number in range(2):
        out = job / f"node-{number}"
        done = this.run(*this.command(sys.executable, "-c", PROGRAM, this.data_file(), 5 * number + 5, out=out))
        this.equal("exit status", done.returncode, 0, said=done.stderr)
        nodes.edit_run(out, lambda run, name=f"host{number}": run["host"].update(name=name))
    nodes.merge(this, *sorted(job.iterdir()), out=this.path("job-4711"))
    os.chdir(this.folder)
    in_duckdb, in_clickhouse = [text for text in blocks("sql") if "tables/" in text]
    of_merged, of_each = [one.strip() for one in in_duckdb.split(";") if one.strip()]
    calls = [row for row in this.opened(this.path("job-4711")).rows("call")]
    merged(this, of_merged, calls)
    got = dict(duckdb.sql(of_each.replace("/shared/", f"{this.path('shared')}/")).fetchall())
    this.equal("calls of each trace", got, {f"node-{number}": len(this.opened(job / f"node-{number}").rows("call")) for number in range(2)})
    clickhouse(this, in_clickhouse, calls)
    spark(this, calls)


def merged(this, query, calls):
    """In the folder of the merged trace."""
    os.chdir(this.path("job-4711"))
    rows = duckdb.sql(query).fetchall()
    os.chdir(this.folder)
    wanted = sum(row["ret"] for row in calls if row["func"] in ("read", "pread") and row["ret"] > 0 and row["file_id"])
    this.equal("bytes", sum(row[2] for row in rows), wanted)
    this.equal("nodes", {row[0] for row in rows}, {"host0", "host1"})


def clickhouse(this, query, calls):
    query, changed = re.subn(r"file\(('[^']+'), Parquet\)", r"\1", query)
    this.equal("tables", changed, 1)
    for node, func, count, _ in duckdb.sql(query.rstrip().rstrip(";")).fetchall():
        this.equal(f"{func} of node {node}", count, sum((row["node_id"], row["func"]) == (node, func) for row in calls))


def spark(this, calls):
    [block] = blocks("python")
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(block, {"spark": SparkSession.builder.getOrCreate()})  # pylint: disable=exec-used
    sums = [int(line.split("|")[-2]) for line in shown.getvalue().splitlines() if re.match(r"\|\s*\d", line)]
    this.equal("time", sum(sums), sum(row["dur"] for row in calls if row["file_id"]), said=shown.getvalue())


if __name__ == "__main__":
    case.run(check)
