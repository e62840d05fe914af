# SPDX-License-Identifier: Apache-2.0
"""mlrun show prints rows of a table as text, CSV and JSON, with paths and function names, filtered and limited."""

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
    said, *known = wrong.stderr.splitlines()
    this.true("an unknown table is refused in one line",
              wrong.returncode == 125 and said.endswith("has no table 'no_such_table'; it has:"), wrong.stderr)
    this.true("and what there is stands below it", known and all(line.startswith("  ") for line in known), wrong.stderr)
    this.true("the tables are all named", {"call", "alloc", "wait"} <= set(" ".join(known).replace(",", " ").split()), known)


if __name__ == "__main__":
    case.run(check)
