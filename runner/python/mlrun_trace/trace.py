# SPDX-License-Identifier: Apache-2.0
"""One trace, or several as one."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union

from mlrun_trace import joins
from mlrun_trace.errors import TraceError, need
from mlrun_trace.relation import Rows, errors_of_duckdb

if TYPE_CHECKING:
    import duckdb

PathLike = Union[str, "os.PathLike[str]"]  # evaluated at run time, so it must work in Python 3.9
Group = Literal["run", "process", "file", "function"]
NEWEST_SCHEMA = 1


def quoted(text: str) -> str:
    """The text as a string literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def pattern(path: Path) -> str:
    """The path as a string literal of SQL for read_parquet, with special characters escaped, since DuckDB takes paths as patterns."""
    return quoted("".join(f"[{c}]" if c in "*?[" else c for c in str(path)))


def read_table(folder: Path, table: str) -> str:
    """The SQL expression that reads a table of a trace."""
    return f"read_parquet([{', '.join(pattern(path) for path in sorted((folder / 'tables' / table).glob('*.parquet')))}])"


def read_facts(folder: Path) -> dict[str, Any]:
    """Reads run.json of a finished trace."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise TraceError(f"{ascii(str(folder))}: DuckDB can only open paths in UTF-8; rename the folder") from None
    try:
        facts: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        newer = int(facts.get("schema_version", NEWEST_SCHEMA)) > NEWEST_SCHEMA
    except FileNotFoundError:
        if (folder / "session.json").exists():
            raise TraceError(f"{folder} is not finished: mlrun recover {folder}") from None
        if (folder / "sweep.sqlite").exists():
            raise TraceError(f"{folder} is a sweep: use open_sweep(); its traces are in {folder / 'runs'}") from None
        raise TraceError(f"{folder} is no trace: it has no run.json; mlrun list shows the traces of a folder") from None
    except OSError as error:
        raise TraceError(f"cannot read {folder / 'run.json'}: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError):
        raise TraceError(f"{folder / 'run.json'} is damaged: it does not describe a trace") from None
    if newer:
        raise TraceError(f"{folder} was written by a newer mlrun (schema {facts['schema_version']}): update mlrun-tracer")
    return facts


class Trace:
    """A trace, or several of them as one: each table then has the rows of all traces, and `run` as its first column.

    All methods for tables, queries and joins return Rows. Columns of tables are explained in TABLES.md.
    """

    def __init__(self, folders: Sequence[PathLike]) -> None:
        if not folders:
            raise TraceError("no trace was given: pass at least one folder")
        self.folders = [Path(folder) for folder in folders]
        self.facts = [read_facts(folder) for folder in self.folders]
        names = [os.path.basename(os.path.abspath(folder)) for folder in self.folders]
        if len(set(names)) != len(names):
            names = [str(folder) for folder in self.folders]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise TraceError(f"{twice} was named twice; name it once")
        self.names = list(names)
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._cursors = threading.local()
        self._lock = threading.Lock()

    @property
    def tables(self) -> list[str]:
        """Names of the tables that all of the traces have."""
        try:
            each = [{p.name for p in (folder / "tables").iterdir() if any(p.glob("*.parquet"))} for folder in self.folders]
        except OSError as error:
            raise TraceError(f"cannot read {error.filename}: {error.strerror}") from None
        return sorted(set.intersection(*each))

    @property
    def is_merged(self) -> bool:
        """Whether `mlrun merge` made the trace from those of several nodes: its tables then have the column node_id."""
        return bool(self.facts[0].get("merged"))

    @property
    def _advice(self) -> str:
        deleted = [name for name, facts in zip(self.names, self.facts) if facts.get("deleted_tables")]
        return f"the sweep kept only the figures of {', '.join(deleted)}; run it with --all to keep every table" if deleted else ""

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """A database in memory in which every table is a view of its name. Each thread has a connection of its own."""
        with self._lock:
            if self._connection is None:
                connection: duckdb.DuckDBPyConnection = need("duckdb").connect()
                for table in self.tables:
                    with errors_of_duckdb():
                        connection.execute(f'CREATE VIEW "{table}" AS {self._select(table)}')
                self._connection, self._cursors = connection, threading.local()
            if not hasattr(self._cursors, "mine"):
                self._cursors.mine = self._connection.cursor()
            mine: duckdb.DuckDBPyConnection = self._cursors.mine
            return mine

    def _connect(self) -> duckdb.DuckDBPyConnection:
        return self.connection

    def _select(self, table: str) -> str:
        rows = [read_table(folder, table) for folder in self.folders]
        if len(rows) == 1:
            return f"FROM {rows[0]}"
        parts = [f"SELECT {quoted(name)} AS run, * FROM {each}" for name, each in zip(self.names, rows)]
        return " UNION ALL BY NAME ".join(parts)

    def table(self, name: str) -> Rows:
        """All rows of a table."""
        if name not in self.tables:
            raise TraceError("; ".join(filter(None, (f"there is no table {name}: it has {', '.join(self.tables)}", self._advice))))
        return Rows(self._connect, f'FROM "{name}"', self._advice)

    def sql(self, query: str) -> Rows:
        """Runs a query in DuckDB's SQL; every table is a view of its name."""
        return Rows(self._connect, query.strip().rstrip(";"), self._advice)

    def _one(self, query: str) -> Rows:
        if len(self.folders) != 1:
            raise TraceError("ids are only unique within a trace: open one of them to join its tables")
        return Rows(self._connect, query, self._advice)

    def findings(self) -> Rows:
        """Why the run was slow: causes in order, with evidence and what to change."""
        if len(self.folders) != 1:
            return self.table("finding")
        return self._one(joins.FINDINGS)

    def calls_with_requests(self) -> Rows:
        """Calls that led to requests to block devices: a row for each fragment. Needs --kprobes and --preload."""
        return self._one(joins.by_node(joins.CALLS_WITH_REQUESTS, self.is_merged))

    def time_by_layer(self, by: Group = "run") -> Rows:
        """Where the time of calls went, by layer: program, run queue, kernel, queue, device, server, waits. Needs --kprobes."""
        if by not in joins.GROUPS:
            raise TraceError(f"time_by_layer(by={by!r}): use one of {', '.join(joins.GROUPS)}")
        return self._one(joins.time_by_layer(by))

    def time_by_file(self) -> Rows:
        """Calls, time and bytes of each file."""
        return self._one(joins.TIME_BY_FILE)

    def time_by_worker(self) -> Rows:
        """Calls and time of each process, on files and on channels, with its role in the training."""
        return self._one(joins.TIME_BY_WORKER)

    def time_by_step(self) -> Rows:
        """The steps of the training: waiting, computing, checkpoint, and the calls that began in each."""
        return self._one(joins.by_node(joins.TIME_BY_STEP, self.is_merged))

    def gpu_idle(self) -> Rows:
        """Gaps of the GPUs, in pieces, with the responsible thread and the row that proves it. Needs --cupti."""
        return self._one(joins.GPU_IDLE)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection, self._cursors = None, threading.local()

    def __reduce__(self) -> tuple[type[Trace], tuple[list[Path]]]:
        return Trace, (self.folders,)

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __str__(self) -> str:
        return ", ".join(self.names)

    def __repr__(self) -> str:
        return f"<mlrun_trace.Trace {self}>"
