# SPDX-License-Identifier: Apache-2.0
"""PySpark in local mode reads the traces of a sweep as one table with the run in the path, and joins the figures: the same sums as
DuckDB's."""

import importlib.util
import shutil

import duckdb
import kit
from kit import case

PLAN = 'repetitions = 2\nworkloads = ["sort /etc/passwd", "wc /etc/passwd"]\n[[configuration]]\nname = "full"\noptions = "--preload=files"\n'


def check(this):
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        raise case.Skip("needs PySpark and Java")
    from pyspark.sql import SparkSession, functions  # pylint: disable=import-outside-toplevel

    sweep = kit.Sweep(this, PLAN)
    sweep.run("--all")
    wanted = dict(duckdb.sql(
        f"SELECT f.workload, sum(c.dur) FROM read_parquet('{sweep.out}/runs/*/tables/call/*.parquet', filename = true) c"
        f" JOIN '{sweep.out}/figures.parquet' f ON f.folder = regexp_extract(c.filename, 'runs/([^/]+)/', 1) GROUP BY 1").fetchall())
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    calls = spark.read.parquet(f"{sweep.out}/runs/*/tables/call/*.parquet").withColumn(
        "folder", functions.regexp_extract(functions.input_file_name(), "runs/([^/]+)/", 1))
    joined = calls.join(spark.read.parquet(f"{sweep.out}/figures.parquet"), "folder")
    got = {row[0]: row[1] for row in joined.groupBy("workload").sum("dur").collect()}
    this.equal("sums by workload", got, wanted)
    spark.stop()


if __name__ == "__main__":
    case.run(check)
