# SPDX-License-Identifier: Apache-2.0
"""mlrun bench prints a figure for every kind of call, as a table and as JSON, and leaves nothing behind. The test
checks no times: a figure hidden by a busy machine is marked as uncertain."""

import json
import math
import os

from lib import case

CLOCKS = {"tsc", "monotonic"}
KINDS = CLOCKS | {"alloc_listed", "alloc_counted", "alloc_live", "pread", "read", "write", "close", "open_close",
                  "fstat", "stat", "stdio", "mark", "post", "signal", "wake", "idle", "fork", "exec", "thread"}


def check(this):
    this.environment["TMPDIR"] = str(this.path("scratch"))
    os.mkdir(this.path("scratch"))
    done = this.run(case.MLRUN, "bench", "--seconds", "1", "--json")
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    bench = json.loads(done.stdout)
    this.equal("schema", (bench["schema"], bench["schema_version"]), ("mlrun-bench", 1))
    names = {figure["name"] for figure in bench["figures"]}
    this.true("the kinds of calls", names >= KINDS, KINDS - names)
    this.true("mlrun's own time", 0 < bench["collector_ns_per_record"] < math.inf, bench)
    for figure in bench["figures"]:
        this.true("a positive time untraced", 0 < figure["untraced_ns"] < math.inf, figure)
        if figure["name"] not in CLOCKS:
            check_added(this, figure)
    table = this.run(case.MLRUN, "bench", "--seconds", "0.1")
    this.equal("exit status of the table", table.returncode, 0, said=table.stderr)
    this.true("a line for each", all(figure["text"] in table.stdout for figure in bench["figures"]), table.stdout)
    this.equal("left behind", os.listdir(this.path("scratch")), [])
    bad = this.run(case.MLRUN, "bench", "--seconds", "much")
    this.true("a bad option is refused in one line", bad.returncode == 125 and bad.stderr.count("\n") == 1, bad.stderr)


def check_added(this, figure):
    low, high = figure["interval_ns"]
    this.true("an interval around the figure", low <= figure["added_ns"] <= high and math.isfinite(high), figure)
    this.true("a positive cost", figure["added_ns"] > 0 or figure["uncertain"], figure)


if __name__ == "__main__":
    case.run(check)
