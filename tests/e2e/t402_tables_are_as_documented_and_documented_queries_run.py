# SPDX-License-Identifier: Apache-2.0
"""Every Parquet file has the columns and types of TABLES.md, none of which needs quoting in SQL; the queries of
README.md and TABLES.md return rows on a real training."""

import re
import sys

import duckdb
import pandas  # noqa: F401, before lib: the queries of the pages use it with PyArrow

from lib import case, documents, schemas, training


def check_queries(this, trace):
    for page in (case.SOURCE / "README.md", documents.TABLES):
        queries = documents.fenced(page, "sql")
        this.true(f"{page.name} has queries", queries)
        for query in queries:
            where = re.sub(r"'(mlrun-train-1|TRACE)/", f"'{trace.folder}/", query)
            this.true(f"rows of a query of {page.name}", duckdb.sql(where).fetchall(), query)


def check_python(this, trace):
    """The lines of README.md that use the Python package."""
    [block] = documents.fenced(case.SOURCE / "README.md", "pycon")
    code = [line.removeprefix(">>> ").replace("'mlrun-train-1'", repr(str(trace.folder))) for line in block.splitlines()]
    sys.path.insert(0, str(case.SOURCE / "runner" / "python"))
    names = {}
    for line in code[:-1]:
        exec(line, names)  # pylint: disable=exec-used
    shown = eval(code[-1], names)  # pylint: disable=eval-used
    this.true("the Python example finds files", len(shown) > 0, shown)


def check(this):
    training.need_torch()
    data, log = training.data_set(this), this.path("mllog.txt")
    trace = this.trace(*training.command(data, "--workers", 2, "--mllog", log), options=("--mllog", log, "--cupti"))
    documented = documents.documented_tables()
    tables = trace.folder / "tables"
    this.equal("tables (written, documented)", sorted(path.name for path in tables.iterdir()), sorted(documented))
    for name, columns in documented.items():
        for path in (tables / name).iterdir():
            schemas.check(this, path, columns)
    reserved = {word for word, in duckdb.sql("SELECT keyword_name FROM duckdb_keywords() "
                                             "WHERE keyword_category = 'reserved'").fetchall()}
    reserved -= {"offset"}  # what every tracer calls it; with its table's name before it, it needs no quotes
    quoted = {name: sorted(reserved & set(columns)) for name, columns in documented.items() if reserved & set(columns)}
    this.equal("columns that are reserved words", quoted, {})
    check_queries(this, trace)
    check_python(this, trace)


if __name__ == "__main__":
    case.run(check)
