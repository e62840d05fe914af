# SPDX-License-Identifier: Apache-2.0
"""In a guest with two nodes: mlrun advise with a fast node, calibrated and tried. Whatever the times are, the pages of each run are where its configuration
says, by move_pages: near, far, over both nodes in a ratio, single sites near, and as advised. Nothing is run with all blocks near where node
1 has less memory than they need.
Usage: advise_check.py BUILD"""

import json
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from contextlib import closing
from pathlib import Path

BUILD = Path(sys.argv[1])
MLRUN, TWO_SITES = BUILD / "bin" / "mlrun", BUILD / "e2e" / "victims" / "two_sites"
FOLDER = Path(tempfile.mkdtemp())
MIB, BLOCKS = 1 << 20, 8
failed = []


def expect(what, holds, shown=""):
    print("right" if holds else "WRONG", what, shown, flush=True)
    if not holds:
        failed.append(what)


def mlrun(*words):
    return subprocess.run([MLRUN, *map(str, words)], capture_output=True, text=True, check=False)


def pages_by_configuration(sweep):
    """Of the runs of each configuration: by rule, the share of sampled pages on each node."""
    with closing(sqlite3.connect(sweep / "sweep.sqlite")) as database:
        runs = database.execute("SELECT configuration, folder FROM run WHERE state = 'done'").fetchall()
    found = {}
    for configuration, folder in runs:
        nodes = {}
        for process in json.loads((sweep / "runs" / folder / "run.json").read_text())["placement"]["processes"]:
            for pages in process["pages"]:
                rule = nodes.setdefault(pages["rule"], {})
                rule[pages["node"]] = rule.get(pages["node"], 0) + pages["bytes"]
        shares = {rule: {node: size / sum(of.values()) for node, size in of.items()} for rule, of in nodes.items()}
        found.setdefault(configuration, []).append(shares)
    return found


def expect_where(name, runs, wanted):
    """wanted: by rule, the share on each node. A busy machine may sample a rule too late in a run, which `advise` says."""
    sampled = [run for run in runs if all(rule in run for rule in wanted)]
    good = [run for run in sampled if all(abs(run.get(rule, {}).get(node, 0) - share) <= 0.05 for rule, of in wanted.items() for node, share in of.items())]
    expect(f"{name}: pages where it says", len(runs) == BLOCKS and len(sampled) >= BLOCKS - 2 and good == sampled,
           f"{len(good)} of {len(sampled)} sampled of {len(runs)}; {runs[:1]}")


def check_larger_program():
    """More is alive than node 1 has: neither a calibration nor a trial has a run with everything there."""
    trace, rules = FOLDER / "large", FOLDER / "large.toml"
    done = mlrun("run", "--quiet", "-o", trace, "--stacks=16", "--alloc-min=64K", "--python-stacks=off", "--sample=off", "--", TWO_SITES, "1", "1", "600")
    expect("a larger program: recorded", done.returncode == 0, done.stderr)
    done = mlrun("advise", trace, "--fast", "1=50M", "-o", rules, "--calibrate", FOLDER / "single_sites", "--quiet", "--blocks", BLOCKS)
    expect("it is said", done.returncode == 0 and "not all blocks fit on node 1" in done.stderr, done.stdout + done.stderr)
    pages = pages_by_configuration(FOLDER / "single_sites")
    expect("single sites are run, but the one that does not fit", sorted(pages) == ["far", "site2", "site3"], sorted(pages))
    expect_where("a site of a larger program near", pages["site2"], {0: {1: 1}, 1: {0: 1}})
    advice = tomllib.loads(rules.read_text())["advice"]
    expect("predicted without near", advice["all_fits"] is False and "prediction" in advice and "near_s" not in advice["prediction"], advice)
    done = mlrun("advise", rules, "--try", FOLDER / "trial_of_large", "--quiet", "--blocks", BLOCKS)
    expect("a larger program: tried", done.returncode in (0, 1) and "\nadvised " in done.stdout and "\nnear " not in done.stdout, done.stdout + done.stderr)
    expect("no near runs", sorted(pages_by_configuration(FOLDER / "trial_of_large")) == ["advised", "control", "far"], done.stdout)


def main():
    trace, ranking, measured = FOLDER / "trace", FOLDER / "ranking.toml", FOLDER / "measured.toml"
    done = mlrun("run", "--quiet", "-o", trace, "--stacks=16", "--alloc-min=64K", "--python-stacks=off", "--sample=off", "--", TWO_SITES, "1")
    expect("recorded", done.returncode == 0, done.stderr)
    done = mlrun("advise", trace, "--fast", "1=4G", "-o", ranking)
    expect("more than the node has is refused", done.returncode == 125 and "in all" in done.stderr and not ranking.exists(), done.stderr)
    done = mlrun("advise", trace, "--fast", "1=50M", "-o", ranking)
    expect("ranked", done.returncode == 0 and "add_cold" in done.stdout and "add_hot" not in done.stdout, done.stdout + done.stderr)
    file = tomllib.loads(ranking.read_text())
    expect("the rest is on the other node", [rule["to"] for rule in file["rule"]] == ["node 1", "node 0"] and int(file["rule"][0]["budget"]) == 50 * MIB, file["rule"])

    done = mlrun("advise", ranking, "--try", FOLDER / "trial", "--quiet", "--blocks", BLOCKS)
    expect("tried", done.returncode == 0 and done.stdout.splitlines()[-1] == "no time was predicted: the advice is a ranking", done.stdout + done.stderr)
    pages = pages_by_configuration(FOLDER / "trial")
    expect_where("near", pages["near"], {0: {1: 1}})
    expect_where("far", pages["far"], {0: {0: 1}})
    expect_where("advised", pages["advised"], {0: {1: 1}, 1: {0: 1}})
    expect("control has its runs", len(pages["control"]) == BLOCKS, len(pages["control"]))

    done = mlrun("advise", trace, "--fast", "1=50M", "-o", measured, "--calibrate", FOLDER / "calibration", "--spread", "3:1", "--quiet", "--blocks", BLOCKS)
    expect("calibrated", done.returncode == 0, done.stdout + done.stderr)
    pages = pages_by_configuration(FOLDER / "calibration")
    expect("what was run", sorted(pages) == ["far", "near", "site1", "site2", "spread"], sorted(pages))
    expect_where("spread 3:1", pages["spread"], {0: {1: 0.75, 0: 0.25}})
    expect_where("one site near", pages["site1"], {0: {1: 1}, 1: {0: 1}})
    expect_where("the other site near", pages["site2"], {0: {1: 1}, 1: {0: 1}})
    prediction = tomllib.loads(measured.read_text())["advice"]["prediction"]
    expect("predicted", prediction["low"] <= prediction["change"] <= prediction["high"] and prediction["blocks"] == BLOCKS, prediction)
    check_larger_program()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
