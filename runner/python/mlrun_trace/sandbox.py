# SPDX-License-Identifier: Apache-2.0
"""Untrusted queries: they can only read the tables of one trace, cannot write, and are limited in time and memory.

DuckDB's settings would allow COPY to write into a readable folder, so DuckDB's parser must find exactly one SELECT in a query.
"""

from __future__ import annotations

import shlex
import threading
from typing import TYPE_CHECKING, Any

from mlrun_trace.errors import TraceError, first_line, need
from mlrun_trace.relation import errors_of_duckdb
from mlrun_trace.trace import Trace, pattern, quoted, read_table

if TYPE_CHECKING:
    import duckdb

SECONDS = 30.0
MEMORY = "1GiB"
ROWS_MOST = 1000
TEXT_MOST = 2000  # characters of a value; longer values are cut


class Refused(TraceError):
    """A query that was not run, or did not finish."""


class Sandbox:
    """Runs untrusted queries on the tables of one trace."""

    def __init__(self, trace: Trace, seconds: float = SECONDS) -> None:
        if len(trace.folders) != 1:
            raise TraceError("a query needs exactly one trace")
        self.folder = trace.folders[0].resolve()
        self.seconds = seconds
        self._duckdb = need("duckdb")
        self._connection: duckdb.DuckDBPyConnection = self._duckdb.connect()
        for table in trace.tables:
            with errors_of_duckdb():
                self._connection.execute(f'CREATE VIEW "{table}" AS FROM {read_table(self.folder, table)}')
        tables = self.folder / "tables"
        places = f"{quoted(str(tables))}, {pattern(tables)}"  # DuckDB compares the paths as they are written in the views
        for setting in (f"memory_limit = {quoted(MEMORY)}", "temp_directory = ''", "autoinstall_known_extensions = false", "autoload_known_extensions = false",
                        f"allowed_directories = [{places}]", "enable_external_access = false", "lock_configuration = true"):
            self._connection.execute(f"SET {setting}")

    def _check(self, query: str) -> None:
        try:
            statements = self._connection.extract_statements(query)
        except self._duckdb.Error as error:
            raise Refused(f"not SQL: {first_line(error)}") from None
        if len(statements) != 1 or statements[0].type != self._duckdb.StatementType.SELECT:
            raise Refused("write exactly one SELECT; other statements are not run")

    def query(self, query: str, rows_most: int = ROWS_MOST) -> dict[str, Any]:
        """{columns, rows, truncated, ids, verify}: `ids`: the columns that contain ids of the trace's tables. Raises Refused."""
        self._check(query)
        cursor = self._connection.cursor()
        timer = threading.Timer(self.seconds, cursor.interrupt)
        timer.start()
        try:
            cursor.execute(query)
            columns = [column[0] for column in cursor.description or ()]
            rows = cursor.fetchmany(rows_most + 1)
        except self._duckdb.InterruptException:
            raise Refused(f"stopped after {self.seconds:g} s: ask for less, by a range of ts or fewer columns") from None
        except self._duckdb.Error as error:
            raise Refused(first_line(error)) from None
        finally:
            timer.cancel()
            cursor.close()
        return {
            "columns": columns,
            "rows": [dict(zip(columns, map(json_value, row))) for row in rows[:rows_most]],
            "truncated": len(rows) > rows_most,
            "ids": [name for name in columns if name.endswith("_id")],
            "verify": self.command(query),
        }

    def command(self, query: str) -> str:
        """A shell command that runs the query again."""
        code = f"import mlrun_trace; print(mlrun_trace.open({str(self.folder)!r}).sql({query!r}).pandas().to_string())"
        return f"python3 -c {shlex.quote(code)}"


def json_value(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    text = value.hex() if isinstance(value, (bytes, bytearray)) else str(value)
    return text if len(text) <= TEXT_MOST else text[:TEXT_MOST] + "…"
