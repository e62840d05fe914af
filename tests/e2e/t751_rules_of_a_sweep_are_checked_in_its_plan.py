# SPDX-License-Identifier: Apache-2.0
"""--place, --mem-kind and policies in the options of a configuration are checked with the plan: one line for each fault, and nothing is run."""

import os

from lib import case

PLAN = """repetitions = 1
workloads = "true"
[[configuration]]
name = "a"
options = ["--place", "{}"]
[[configuration]]
name = "b"
options = ["--mem-kind={}"]
"""

OTHERS = {
    'options = ["--preferred=0"]\nmem_node = 0': {"plan.toml:5": "--preferred: the key mem_node chooses nodes of memory, too"},
    'options = ["--place"]': {"plan.toml:5": "--place: the value is missing"},
    'mem_node = 0\ncolour = "red"': {"plan.toml:6": "there are name, options, dry, cpus, cpu_node, mem_node, cache, environment, parameters"},
}


def refused(this, plan, said):
    this.path("plan.toml").write_text(plan, encoding="utf-8")
    before = set(os.listdir(this.folder))
    done = this.run(case.MLRUN, "sweep", "plan.toml", "-o", "OUT")
    lines = done.stderr.splitlines()
    this.equal("status and lines", (done.returncode, len(lines)), (125, len(said)), said=done.stderr)
    for line, (where, what) in zip(lines, said.items(), strict=True):
        this.true("place and text", f"{where}: " in line and what in line, line)
    this.equal("nothing was created", set(os.listdir(this.folder)), before)


def check(this):
    for place, kind, said in (("size >= 1M -> node 99", "regular", {"plan.toml:5": "node 99"}), ("-> default", "hbw", {"plan.toml:8": "no hbw memory"}),
                              ("-> nowhere", "fast", {"plan.toml:5": "no target", "plan.toml:8": "there are dax-kmem"}),
                              ("missing.toml", "regular", {"plan.toml:5": "missing.toml"})):
        refused(this, PLAN.format(place, kind), said)
    for keys, said in OTHERS.items():
        refused(this, f'repetitions = 1\nworkloads = "true"\n[[configuration]]\nname = "a"\n{keys}\n', said)


if __name__ == "__main__":
    case.run(check)
