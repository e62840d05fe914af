# SPDX-License-Identifier: Apache-2.0
"""Rows of a trace as Arrow, pandas, polars or DuckDB have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable

from mlrun_trace.errors import TraceError, first_line, need

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow  # type: ignore[import-untyped, unused-ignore]


@contextmanager
def errors_of_duckdb(advice: str = "") -> Iterator[None]:
    """Converts DuckDB's errors to TraceError with their first line; the original is its cause. `advice` is added if a table is missing."""
    try:
        yield
    except need("duckdb").CatalogException as error:
        raise TraceError("; ".join(filter(None, (first_line(error), advice)))) from error
    except need("duckdb").Error as error:
        raise TraceError(first_line(error)) from error


class Rows:
    """The rows of a query. Nothing is read before one of the methods below is called.

    Times are whole nanoseconds of CLOCK_MONOTONIC, sizes bytes; an unknown value is null.
    """

    def __init__(self, connect: Callable[[], duckdb.DuckDBPyConnection], query: str, advice: str = "") -> None:
        self._connect = connect  # returns a connection of the calling thread
        self._advice = advice  # added to the error if a table is missing
        self.query = query

    def duckdb(self) -> duckdb.DuckDBPyRelation:
        """The rows as a relation of DuckDB, for further SQL: filter(), aggregate(), join()."""
        with errors_of_duckdb(self._advice):
            return self._connect().sql(self.query)

    def arrow(self) -> pyarrow.Table:
        with errors_of_duckdb(self._advice):
            return self.duckdb().to_arrow_table()

    def pandas(self) -> pandas.DataFrame:
        need("pandas")
        with errors_of_duckdb(self._advice):
            frame: pandas.DataFrame = self.duckdb().df()
        return frame

    def polars(self) -> polars.DataFrame:
        need("polars")
        with errors_of_duckdb(self._advice):
            frame: polars.DataFrame = self.duckdb().pl()
        return frame

    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries; for small results."""
        relation = self.duckdb()
        names = relation.columns
        with errors_of_duckdb(self._advice):
            return [dict(zip(names, row)) for row in relation.fetchall()]

    def __len__(self) -> int:
        counted = Rows(self._connect, f"SELECT count(*) AS n FROM ({self.query}\n)", self._advice)
        return int(counted.rows()[0]["n"])

    def __repr__(self) -> str:
        return repr(self.duckdb())
