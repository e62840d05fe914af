# SPDX-License-Identifier: Apache-2.0
"""A sweep: configurations × workloads × repetitions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mlrun_trace.errors import TraceError, need
from mlrun_trace.relation import Rows
from mlrun_trace.trace import PathLike, Trace, pattern

if TYPE_CHECKING:
    import duckdb


AWAY = re.compile(r"\.(failed|left)-[0-9]+$")  # folders of failed attempts, and of earlier contents of a run's folder


class Sweep:
    """The figures of a sweep's runs, and the traces that it kept."""

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)
        if not (self.folder / "sweep.sqlite").exists():
            raise TraceError(f"{self.folder} is no sweep: it has no sweep.sqlite")
        self._connection: duckdb.DuckDBPyConnection = need("duckdb").connect()

    def figures(self) -> Rows:
        """A row for each run, with a column for each figure; failed attempts are included (column state)."""
        path = self.folder / "figures.parquet"
        if not path.exists():
            raise TraceError(f"{path} does not exist yet: it is written at the end of the sweep")
        return Rows(lambda: self._connection, f"FROM read_parquet({pattern(path)})")

    def traces(self) -> Trace:
        """The traces that were kept, as one: the first repetition of each configuration and workload, or all."""
        runs = (path.parent for path in (self.folder / "runs").glob("*/run.json") if not AWAY.search(path.parent.name))
        kept = sorted(run for run in runs if any(run.glob("tables/call/*.parquet")))
        if not kept:
            raise TraceError(f"{self.folder} has no trace; a sweep whose configurations are all dry keeps none")
        return Trace(kept)

    def __str__(self) -> str:
        return str(self.folder)

    def __repr__(self) -> str:
        return f"<mlrun_trace.Sweep {self.folder}>"
