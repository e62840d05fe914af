# SPDX-License-Identifier: Apache-2.0
"""SQLite's databases of imported traces, of runs with GPU work, of merged traces and of traces that lack tables have every row with its value and type; rows that are
left out are counted; mlrun import makes the same trace of them; DuckDB reads them too where it has its reader of SQLite."""

import shutil
import sqlite3

import duckdb
import pyarrow.parquet
import t819_nodes_of_a_merged_trace_stay_apart as two_nodes

from lib import case, recorded
from lib.exported import account, every_row_is_told_of, export, rows_of


def check_rows(this, trace, out, printed):
    every_row_is_told_of(this, trace, printed)
    database = sqlite3.connect(out)
    for table, (written, left_out) in account(printed).items():
        stored = [tuple(int(value) if isinstance(value, bool) else value for value in row.values()) for row in rows_of(trace, table)]
        found = database.execute(f'SELECT * FROM "{"access_sample" if table == "access" else table}"').fetchall()
        this.equal(f"rows of {table}", (found, left_out), (stored, 0))
        this.equal(f"types of {table}", [tuple(map(type, row)) for row in found], [tuple(map(type, row)) for row in stored])
        this.equal(f"count of {table}", written, len(found))
    return database


def files(trace, table):
    return [pyarrow.parquet.ParquetFile(path) for path in sorted((trace.folder / "tables" / table).glob("*.parquet"))]


def check_import(this, trace, out, name):
    """The same tables with the same columns, rows and row groups, and the same run.json."""
    folder = this.path(f"{name}.back")
    done = this.run(case.MLRUN, "import", out, "-o", folder)
    this.equal(f"import of {name}", (done.returncode, done.stderr), (0, ""))
    this.equal("tables", sorted(path.name for path in (folder / "tables").iterdir()), sorted(path.name for path in (trace.folder / "tables").iterdir()))
    again = this.opened(folder)
    for table in sorted((trace.folder / "tables").iterdir()):
        this.equal(f"rows of {table.name}", rows_of(again, table.name), rows_of(trace, table.name))
        before, after = (files(one, table.name) for one in (trace, again))
        this.equal(f"columns of {table.name}", *([(field.name, str(field.type)) for field in of[0].schema_arrow] for of in (after, before)))
        if "end_min" in before[0].schema_arrow.names:
            this.equal(f"row groups of {table.name}", *([file.metadata.row_group(i).num_rows for file in of for i in range(file.num_row_groups)] for of in (after, before)))
        if "merged" in trace.run:
            this.equal(f"files of {table.name}", *([file.name for file in sorted((one.folder / "tables" / table.name).iterdir())] for one in (again, trace)))
    run = again.run
    this.equal("run.json", run | {"tables": 0}, trace.run | {"tables": 0})
    report = [this.run(case.MLRUN, "report", "--json", one).stdout for one in (folder, trace.folder)]
    this.equal("report", report[0].replace(str(folder), str(trace.folder)), report[1])


def check_damaged(this, out):
    for name, change in (("no_json", "UPDATE run_json SET json = '{'"), ("name", 'ALTER TABLE call RENAME TO "../../call"'), ("column", 'ALTER TABLE call ADD COLUMN "x" NUMERIC'),
                         ("newer", "UPDATE run_json SET json = replace(json, '\"schema_version\":1', '\"schema_version\":99')")):
        path = this.path(f"{name}.sqlite")
        shutil.copy(out, path)
        with sqlite3.connect(path) as database:
            database.execute("DROP VIEW IF EXISTS runs")
            database.execute(change)
        done = this.run(case.MLRUN, "import", path, "-o", f"{name}.back")
        this.equal(f"a database with {name}", (done.returncode, done.stderr.count("\n"), this.path(f"{name}.back").exists()), (125, 1, False), said=done.stderr)


def check_duckdb(this, out, database):
    """Its reader of SQLite is an extension, which may be neither installed nor be fetched."""
    connection = duckdb.connect()
    try:
        connection.execute("LOAD sqlite")
    except duckdb.Error:
        return
    connection.execute(f"ATTACH '{out}' AS made (TYPE sqlite, READ_ONLY)")
    for name in ("call", "slice", "runs", "allocs", "access"):
        this.equal(f"DuckDB's {name}", connection.execute(f"SELECT count(*) FROM made.{name}").fetchone(),
                   database.execute(f"SELECT count(*) FROM {name}").fetchone())


def check_without(this, trace):
    """Tables that a sweep has deleted, or that an earlier version did not write."""
    for number, tables in enumerate((["alloc"], ["alloc", "process", "access", "sample_thread", "sample_process", "call"])):
        folder = this.path(f"without{number}")
        shutil.copytree(trace.folder, folder)
        for table in tables:
            for path in (folder / "tables" / table).glob("*.parquet"):
                path.unlink()
        run = folder / "run.json"
        run.write_text(run.read_text().replace('"tables":', '"tables_before":'))
        done = this.run(case.MLRUN, "export", folder, "--to", "sqlite", "-o", f"without{number}.sqlite")
        this.equal(f"a trace without {tables}", (done.returncode, done.stderr), (0, ""))
        views = [name for name, in sqlite3.connect(this.path(f"without{number}.sqlite")).execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
        this.equal("its views", sorted(views), ["access"] if "process" in tables else ["access", "runs"])


def check(this):
    this.mlrun = case.MLRUN
    for name, trace in (("imported", recorded.other_tools(this)), ("gpu", recorded.gpu_work(this)), ("nodes", two_nodes.merged(this))):
        out, printed = export(this, trace, "sqlite", f"{name}.sqlite")
        check_duckdb(this, out, check_rows(this, trace, out, printed))
        check_import(this, trace, out, name)
        if name == "gpu":
            check_damaged(this, out)
            check_without(this, trace)
            out, printed = export(this, trace, "sqlite", "part.sqlite", "--until", "0s")
            every_row_is_told_of(this, trace, printed)
            before = [row for row in rows_of(trace, "call") if row["ts"] < trace.run["start_ns"]]
            this.equal("rows before a time", sqlite3.connect(out).execute("SELECT count(*) FROM call").fetchone(), (len(before),))


if __name__ == "__main__":
    case.run(check)
