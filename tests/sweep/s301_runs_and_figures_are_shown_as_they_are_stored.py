# SPDX-License-Identifier: Apache-2.0
"""sweep list and sweep stat show what sweep.sqlite has, with statistics that Python's own module computes, also in the formats of the
older script and of a single repetition; mlrun list shows the sweep as one line."""

import json
import re
import statistics

import kit
from kit import case

PLAN = """repetitions = {repetitions}
workloads = ["sort /etc/passwd", "sh -c 'test $MLRUN_CASE = good'"]
[[configuration]]
name = "dry"
dry = true
environment = {{ MLRUN_CASE = "good" }}
[[configuration]]
name = "full"
options = ["--preload=files"]
environment = {{ MLRUN_CASE = "bad" }}
"""


def shown(this, sweep, verb, *options):
    done = this.run(case.MLRUN, "sweep", verb, sweep.out, *options)
    this.equal(f"exit status of {verb}", done.returncode, 0, said=done.stderr)
    return done.stdout


def check_list(this, sweep):
    runs = json.loads(shown(this, sweep, "list", "--json"))["runs"]
    got = [(run["folder"], run["configuration"], run["workload"], run["block"], run["state"], run["exit_status"], run["wall_s"])
           for run in runs]
    stored = sweep.rows("SELECT folder, configuration, workload, block, state, exit_status, value FROM run LEFT JOIN figure"
                        " ON run_id = run.id AND name = 'wall_s' ORDER BY position, attempt")
    this.equal("runs", got, stored)
    this.equal("states", {run["state"] for run in runs}, {"done", "failed"})
    text = shown(this, sweep, "list")
    for run in runs:
        this.true(f"{run['folder']} has a line", re.search(rf"^{re.escape(run['folder'])} +{run['configuration']} ", text, re.MULTILINE), text)


def check_stat(this, sweep, repetitions):
    rows = json.loads(shown(this, sweep, "stat", "--json"))["rows"]
    by_cell = {(row["configuration"], row["workload"]): row for row in rows}
    this.equal("cells", len(by_cell), 4)
    for (configuration, workload), row in by_cell.items():
        fails = configuration == "full" and workload.startswith("sh ")
        this.equal("n and failed", (row["n"], row["failed"]), (0, repetitions) if fails else (repetitions, 0))
        this.true("a failure is said", bool(row["remarks"]) == fails, row["remarks"])
        for name, figure in row["figures"].items():
            values = [value for (value,) in sweep.rows(
                "SELECT value FROM figure JOIN run ON run_id = run.id WHERE state = 'done' AND"
                f" configuration = '{configuration}' AND workload = '{workload.replace(chr(39), chr(39) * 2)}' AND name = '{name}'")]
            wanted = (statistics.median(values), statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)
            got = (figure["median"], figure["mean"], figure["sd"])
            for one, other in zip(got, wanted):
                this.true(f"{name} of {configuration}", one == other or abs(one - other) <= 1e-9 * abs(other), (got, wanted))
            this.equal("an interval", figure["low"] is None, len(values) < 2)
    traced = by_cell["full", "sort /etc/passwd"]
    this.equal("the overhead is against", traced["overhead"]["against"], "dry")
    this.true("it is known", traced["overhead"]["figures"]["wall_s"]["difference"] is not None)


def check_older_formats(this, sweep):
    folders = sweep.rows("SELECT id, folder FROM run WHERE state = 'done' AND block = 1")
    wanted = sorted((folder.rsplit(".", 2)[:2], f"{run:3d}: {folder}") for run, folder in folders)
    this.equal("list", shown(this, sweep, "list", "--format", "heimdallr").splitlines(), [line for _, line in wanted])
    head, *lines = shown(this, sweep, "stat", "--format", "heimdallr").splitlines()
    functions = ("med", "min", "max", "avg", "std")
    this.equal("head", head, ",".join(["prog", "mode", "reps"] + [f"{time}time_{function}" for time in "usw" for function in functions]))
    this.equal("lines", len(lines), 3)
    for line in lines:
        program, mode, repetitions, *numbers = line.split(",")
        wanted = []
        for name in ("user_s", "sys_s", "wall_s"):
            values = [value for (value,) in sweep.rows(
                "SELECT value FROM figure JOIN run ON run_id = run.id WHERE state = 'done' AND"
                f" folder LIKE '{program}.{mode}.%' AND name = '{name}'")]
            deviation = statistics.stdev(values) if len(values) > 1 else 0
            wanted += [statistics.median(values), min(values), max(values), statistics.mean(values), deviation]
        this.equal(line, (len(values), numbers), (int(repetitions), [f"{number:.4e}" for number in wanted]))


def check(this):
    for repetitions in (1, 3):
        sweep = kit.Sweep(this, PLAN.format(repetitions=repetitions), name=f"out{repetitions}")
        sweep.run(status=1)
        check_list(this, sweep)
        check_stat(this, sweep, repetitions)
        check_older_formats(this, sweep)
        text = shown(this, sweep, "stat")
        this.true("text has both workloads", "sort /etc/passwd" in text and "failed and are in no figure" in text, text)
    listed = this.run(case.MLRUN, "list", this.folder).stdout
    this.true("mlrun list names the verb", f"many runs: mlrun sweep stat {this.path('out3')}" in listed, listed)


if __name__ == "__main__":
    case.run(check)
