# SPDX-License-Identifier: Apache-2.0
"""Rows of a trace as Arrow, pandas, polars or DuckDB have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlrun_trace.errors import need

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow  # type: ignore[import-untyped, unused-ignore]


class Rows:
    """The rows of a query. Nothing is read before one of the methods below is called.

    Times are whole nanoseconds of CLOCK_MONOTONIC, sizes bytes; an unknown value is null.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, query: str) -> None:
        self._connection = connection
        self.query = query

    def duckdb(self) -> duckdb.DuckDBPyRelation:
        """A relation of DuckDB, for further SQL: filter(), aggregate(), join()."""
        return self._connection.sql(self.query)

    def arrow(self) -> pyarrow.Table:
        return self.duckdb().to_arrow_table()

    def pandas(self) -> pandas.DataFrame:
        need("pandas")
        frame: pandas.DataFrame = self.duckdb().df()
        return frame

    def polars(self) -> polars.DataFrame:
        need("polars")
        frame: polars.DataFrame = self.duckdb().pl()
        return frame

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary for each row: for small results."""
        relation = self.duckdb()
        names = relation.columns
        return [dict(zip(names, row)) for row in relation.fetchall()]

    def __len__(self) -> int:
        return int(self._connection.sql(f"SELECT count(*) FROM ({self.query})").fetchall()[0][0])

    def __repr__(self) -> str:
        return repr(self.duckdb())
