# SPDX-License-Identifier: Apache-2.0
"""Uses all of mlrun_trace: checked by mypy --strict, not run."""

import duckdb
import pandas
import polars

import mlrun_trace
from mlrun_trace import mark

trace: mlrun_trace.Trace = mlrun_trace.open("trace")
names: list[str] = trace.tables
every: mlrun_trace.Rows = trace.table("call")
frame: pandas.DataFrame = trace.findings().pandas()
other: polars.DataFrame = trace.time_by_file().polars()
relation: duckdb.DuckDBPyRelation = trace.sql("FROM call").duckdb()
count: int = len(trace.time_by_layer(by="process"))
roles: list[str] = [row["role"] for row in trace.time_by_worker().rows()]
queries: list[str] = [rows.query for rows in (trace.time_by_step(), trace.gpu_idle(), trace.calls_with_requests())]
number: int = every.arrow().num_rows
with mlrun_trace.open_all(["one", "two"]) as both:
    runs: list[str] = both.names
with mark.range("epoch"):
    mark.instant("batch")
mark.push("epoch")
mark.pop()
try:
    sweep: mlrun_trace.Sweep = mlrun_trace.open_sweep("sweep")
    figures: pandas.DataFrame = sweep.figures().pandas()
    sweep.traces().close()
except mlrun_trace.TraceError as error:
    print(error)
