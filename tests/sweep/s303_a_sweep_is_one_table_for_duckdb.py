# SPDX-License-Identifier: Apache-2.0
"""figures.parquet has every run with its figures as sweep.sqlite has them, and the traces of a sweep are one table of calls, with the run
in the path: the SQL of the page runs as it is there."""

import re

import duckdb
import kit
from kit import case

PLAN = """repetitions = 2
workloads = "head -c {bytes} /dev/zero"
[parameters]
bytes = [1000, 70000]
[[configuration]]
name = "dry"
dry = true
[[configuration]]
name = "full"
options = ["--preload=files"]
"""


def sql_of_the_page():
    page = (case.SOURCE / "runner" / "sweep" / "read" / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```sql\n(.*?)```", page, re.DOTALL)[1]
    return [text for text in re.sub(r"--.*", "", block).split(";") if text.strip()]


def check(this):
    sweep = kit.Sweep(this, PLAN)
    sweep.run("--all")
    figures = duckdb.sql(f"SELECT * FROM '{sweep.out}/figures.parquet' ORDER BY run_id")
    names = figures.columns
    rows = [dict(zip(names, row)) for row in figures.fetchall()]
    stored = sweep.rows("SELECT id, folder, configuration, workload, block, position, attempt, state, exit_status,"
                        " started_realtime_ns FROM run ORDER BY id")
    this.equal("runs", [tuple(row[name] for name in names[:10]) for row in rows], stored)
    this.equal("parameters", [row["parameter_bytes"] for row in rows], [row["workload"].split()[2] for row in rows])
    for table, prefix in (("figure", ""), ("machine", "machine_")):
        found = {(row["run_id"], name[len(prefix):]): row[name] for row in rows for name in names[11:]
                 if row[name] is not None and name.startswith("machine_") == bool(prefix)}
        wanted = {(run, name): value for run, name, value in sweep.rows(f"SELECT run_id, name, value FROM {table}")}
        this.equal(table, found, wanted)

    calls = f"read_parquet('{sweep.out}/runs/*/tables/call/*.parquet', filename = true)"
    moved = dict(duckdb.sql(f"SELECT regexp_extract(filename, 'runs/([^/]+)/', 1), sum(ret) FROM {calls}"
                            " WHERE func = 'read' GROUP BY 1").fetchall())
    wanted = {row["folder"]: int(row["parameter_bytes"]) for row in rows if row["configuration"] == "full"}
    this.equal("bytes that head read, by folder in the path", moved, wanted)

    for text in sql_of_the_page():
        answer = duckdb.sql(text.replace("'figures.parquet'", f"'{sweep.out}/figures.parquet'")
                            .replace("'runs/*", f"'{sweep.out}/runs/*")).fetchall()
        this.true("the page's SQL has an answer", answer, text)
    this.equal("its calls are of the traced runs", {row[0] for row in answer}, {"full"})
    this.equal("by workload", len(answer), 2)


if __name__ == "__main__":
    case.run(check)
