# SPDX-License-Identifier: Apache-2.0
"""Traces of mlrun in Python.

    import mlrun_trace

    trace = mlrun_trace.open("mlrun-train-1")
    trace.findings().pandas()                 # why it was slow
    trace.table("call").arrow()               # a whole table
    trace.sql("SELECT func, count(*) FROM call GROUP BY func").polars()

    sweep = mlrun_trace.open_sweep("results")
    sweep.figures().pandas()                  # every figure of every run

Tables are read by DuckDB: pip install 'mlrun-tracer[data]'.
"""

from mlrun_trace import mark, plot
from mlrun_trace.errors import TraceError
from mlrun_trace.opening import open, open_all, open_sweep
from mlrun_trace.relation import Rows
from mlrun_trace.sweep import Sweep
from mlrun_trace.trace import Trace

__all__ = ["Rows", "Sweep", "Trace", "TraceError", "mark", "open", "open_all", "open_sweep", "plot"]
