# SPDX-License-Identifier: Apache-2.0
"""Traces that `mlrun import` makes."""

import json
import subprocess

import duckdb

from lib import case

TABLES_OF_EVENTS = ("slice", "flow", "counter", "stack_sample", "import_event", "call", "mark", "block", "gpu_api", "gpu_kernel", "gpu_memcpy",
                    "gpu_memset", "gpu_sync", "torch_memory")


class Imported:
    def __init__(self, folder):
        self.folder = folder
        self.run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        self.files = self.run["imported"]["files"]

    def rows(self, table, columns="*", rest=""):
        return duckdb.sql(f"SELECT {columns} FROM '{self.folder}/tables/{table}/*.parquet' {rest}").fetchall()

    def count(self, table):
        return self.rows(table, "count(*)")[0][0]

    def events(self):
        return sum(file["events"] for file in self.files)

    def left_out(self):
        reasons = {}
        for file in self.files:
            for reason, count in file["left_out"].items():
                reasons[reason] = reasons.get(reason, 0) + count
        return reasons


def run(this, *files):
    folder = this.path(f"imported{run.number}")
    run.number += 1
    done = subprocess.run([case.BUILD / "bin" / "mlrun-exchange", "import", "--quiet", *files, "-o", folder], capture_output=True, text=True,
                          check=False, timeout=300)
    return done, folder


run.number = 0


def imported(this, *files):
    """The trace, whose books are in order: events = kept + left out, and each table has the rows that were kept."""
    done, folder = run(this, *files)
    this.equal(f"status of the import of {files[0]}", (done.returncode, done.stderr), (0, ""))
    trace = Imported(folder)
    for file in trace.files:
        kept = sum(sum_["events"] for sum_ in file["kept"].values())
        this.equal(f"{file['file']}: events = kept + left out", file["events"], kept + sum(file["left_out"].values()))
    for table in TABLES_OF_EVENTS:
        rows = sum(file["kept"].get(table, {"rows": 0})["rows"] for file in trace.files)
        this.equal(f"rows of {table} (in the table, kept)", trace.count(table), rows)
    return trace


def refused(this, path, *parts):
    """One line, status 125, nothing left."""
    done, folder = run(this, path)
    this.equal(f"status for {path}", done.returncode, 125)
    this.equal(f"lines for {path}", len(done.stderr.splitlines()), 1)
    for part in parts:
        this.true(f"{path}: {part}", part in done.stderr, done.stderr)
    this.true(f"nothing is left of {path}", not folder.exists())
