# SPDX-License-Identifier: Apache-2.0
"""mlrun show: rows of a table as text, CSV and JSON, with paths and function names, filtered and limited."""

import csv
import io
import json

from lib import case


def check(this):
    data = this.data_file()
    trace = this.trace(this.victim("numbered"), data, 500, "exit", status=7)

    def show(*options):
        done = this.run(case.MLRUN, "show", trace.folder, "call", *options)
        this.equal(f"exit status of show {options}", done.returncode, 0, said=done.stderr)
        return done.stdout

    text = show("--limit", "5", "--where", "func = 'pread'")
    this.true("names in the text", "pread" in text and data in text, text)
    rows = list(csv.DictReader(io.StringIO(show("--csv", "--where", "func = 'pread'"))))
    this.equal("rows of --csv", len(rows), 500)
    this.equal("paths", {row["path"] for row in rows}, {data})
    this.equal("offsets", [int(row["offset"]) for row in rows], list(range(500)))
    rows = [json.loads(line) for line in show("--json", "--limit", "3", "--where", "func = 'pread'").splitlines()]
    this.equal("rows of --json", [(row["func"], row["path"], row["offset"]) for row in rows],
               [("pread", data, number) for number in range(3)])
    wrong = this.run(case.MLRUN, "show", trace.folder, "no_such_table")
    this.true("an unknown table is refused in one line",
              wrong.returncode != 0 and wrong.stderr.count("\n") == 1, wrong.stderr)


if __name__ == "__main__":
    case.run(check)
