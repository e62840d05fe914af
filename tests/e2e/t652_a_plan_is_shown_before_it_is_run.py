# SPDX-License-Identifier: Apache-2.0
"""mlrun sweep --dry-run prints every run with a command that a shell takes as it is; JSON has the same. Bad plans and bad
command lines give one line for each fault, status 125, and create nothing. Nodes of a plan for Slurm may be on other machines."""

import json
import os
import shlex

from lib import case, documents

PAGE = case.SOURCE / "runner" / "sweep" / "plan" / "README.md"
PLAN = """repetitions = 3
workloads = ["echo '{size} x' --workers {workers}", "true"]
[parameters]
workers = [2, 8]
size = "small"
[[configuration]]
name = "dry"
dry = true
[[configuration]]
name = "traced"
options = "--preload=files"
environment = {NAME = "a b"}
"""


def sweep(this, *words, **more):
    return this.run(case.MLRUN, "sweep", *words, **more)


def check_dry_run(this):
    this.path("plan.toml").write_text(PLAN, encoding="utf-8")
    shown = json.loads(sweep(this, "--dry-run", "--json", "plan.toml", "-o", "OUT").stdout)
    runs = shown["runs"]
    this.equal("runs", len(runs), 2 * 3 * 3)
    this.equal("positions", [run["position"] for run in runs], list(range(1, 19)))
    this.equal("folders differ", len({run["folder"] for run in runs}), 18)
    this.equal("the time is unknown", (shown["expected_s"], {run["expected_s"] for run in runs}), (None, {None}))
    for block in (1, 2, 3):
        cells = {(run["configuration"], run["workload"]) for run in runs if run["block"] == block}
        this.equal(f"block {block} has everything once", len(cells), 6)
    one = next(run for run in runs if run["configuration"] == "traced" and run["workload"].endswith("8"))
    this.equal("its key", one["workload"], "echo 'small x' --workers 8")
    this.equal("its folder", one["folder"], f"echosmallxworkers8.traced.{one['block']}")
    this.equal("its command", one["command"], ["mlrun", "run", "--preload=files", "--quiet", "-o", f"OUT/runs/{one['folder']}", "--",
                                               "echo", "small x", "--workers", "8"])

    text = sweep(this, "--dry-run", "plan.toml", "-o", "OUT")
    lines = text.stdout.splitlines()
    this.equal("lines", len(lines), 1 + 18 + 1)
    for run, line in zip(runs, lines[1:-1]):
        position, time, command = line.split(maxsplit=2)
        words = shlex.split(command)
        assignment = ["NAME=a b"] if run["configuration"] == "traced" else []
        this.equal("a line is the run", (int(position), time, words), (run["position"], "-", assignment + run["command"]))
    this.true("the last line has the time", "unknown" in lines[-1], lines[-1])
    again = json.loads(sweep(this, "--dry-run", "--json", "plan.toml").stdout)
    this.equal("the order is the same again", [run["folder"] for run in again["runs"]], [run["folder"] for run in runs])


def check_placement_plan(this):
    """The plan of the page is in the help, and good for machines with two nodes, which this one need not be."""
    plan, = documents.fenced(PAGE, "toml")
    shown = "".join(f"  {line}\n" for line in plan.splitlines())
    page = sweep(this, "--help").stdout
    this.true("the help has the plan", shown in page, page)
    this.path("plan.toml").write_text(plan, encoding="utf-8")
    runs = json.loads(sweep(this, "--dry-run", "--slurm", "--json", "plan.toml").stdout)["runs"]
    places = {run["configuration"]: run["command"][run["command"].index("--place") + 1] for run in runs}
    this.equal("where blocks are", places, {"control": "-> default", "near": "-> node 0", "far": "-> node 1"})
    this.equal("runs, all on the same CPUs", [run["command"].count("--cpu-node") for run in runs], [1] * 24)
    this.path("plan.toml").write_text(plan.replace("node 1", "node 77"), encoding="utf-8")
    done = sweep(this, "--dry-run", "plan.toml")
    this.true("a node that is not here", done.returncode == 125 and "node 77 does not exist" in done.stderr, done.stderr)
    done = sweep(this, "--dry-run", "--slurm", "plan.toml")
    this.equal("a node that may be elsewhere", done.returncode, 0, said=done.stderr)


def check_refusals(this):
    before = set(os.listdir(this.folder))
    plans = {
        "reptitions = 3\n" + PLAN: (1, "reptitions"),
        PLAN.replace("workers = [2, 8]", "workers = []"): (4, "parameters.workers"),
        PLAN.replace('"true"', '"no-such-program"'): (2, "no-such-program"),
        PLAN.replace("traced", "dry"): (10, "configuration.name"),
        PLAN.replace("size =", "size2 ="): (2, "{size}"),
        PLAN.replace("--preload=files", "--preloud=files"): (11, "--preload"),
        PLAN + "question = 1\n": (13, "question"),
        PLAN.replace("repetitions", "question = \"wal_s\"\nrepetitions"): (1, "wall_s"),
    }
    for text, (line, named) in plans.items():
        for options in (["-o", "OUT"], ["--dry-run"]):
            this.path("plan.toml").write_text(text, encoding="utf-8")
            done = sweep(this, "plan.toml", *options)
            this.equal(f"{named}: status", done.returncode, 125, said=done.stderr)
            this.equal(f"{named}: lines", (len(done.stderr.splitlines()), done.stdout), (1, ""), said=done.stderr)
            this.true(f"{named}: its place", done.stderr.startswith(f"mlrun: plan.toml:{line}: ") and named in done.stderr, done.stderr)
    this.path("plan.toml").write_text("repetitions = 0\nworkloads = 3\n[[configuration]]\nname = 1\n", encoding="utf-8")
    done = sweep(this, "plan.toml", "-o", "OUT")
    this.equal("all faults at once", [line.split(": ")[1] for line in done.stderr.splitlines()],
               ["plan.toml:1", "plan.toml:2", "plan.toml:4"])
    for words in ([], ["plan.toml"], ["none.toml", "-o", "OUT"], [".", "-o", "OUT"], ["--resume", "OUT", "-o", "X", "plan.toml"], ["--extend", "-o", "OUT"],
                  ["--runs", "OUT", "1"], ["--runs", "OUT", "x", "true"], ["plan.toml", "--runs", "OUT", "1", "true"],
                  ["--modes", "none.lst", "--runs", "OUT", "1", "true"], ["plan.toml", "-o", "OUT", "--json"], ["plan.toml", "-o", ""]):
        done = sweep(this, *words)
        this.equal(f"{words}: status", done.returncode, 125, said=done.stderr)
        this.equal(f"{words}: lines", (len(done.stderr.splitlines()), done.stdout), (1, ""), said=done.stderr)
    this.equal("nothing was created", set(os.listdir(this.folder)), before)


def check(this):
    check_dry_run(this)
    check_placement_plan(this)
    check_refusals(this)


if __name__ == "__main__":
    case.run(check)
