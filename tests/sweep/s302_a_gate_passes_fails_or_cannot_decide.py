# SPDX-License-Identifier: Apache-2.0
"""compare gives the interval of a difference that is known, and --fail-if the exit status that follows from it: 0, 1, 2, or 125 for a
condition that is none. Sweeps, configurations and traces are compared; fewer than three runs have no verdict."""

import json
import math
import statistics

import kit
from kit import case

# The programs sleep: their difference is known, and the machine's load adds to both.
PLAN = """repetitions = {repetitions}
workloads = "sleep {{seconds}}"
order = "{order}"
[parameters]
seconds = "0.1"
[[configuration]]
name = "short"
dry = true
[[configuration]]
name = "long"
dry = true
parameters = {{ seconds = "0.3" }}
"""


def compare(this, *words, status=0):
    done = this.run(case.MLRUN, *words)
    this.equal(f"exit status of {' '.join(map(str, words))}", done.returncode, status, said=done.stdout + done.stderr)
    return done


def compared(this, *words):
    return json.loads(compare(this, *words, "--json").stdout)


def check_conditions(this, out):
    row = next(row for row in compared(this, "sweep", "compare", out)["rows"] if row["figure"] == "wall_s")
    low, high = 100 * row["low"], 100 * row["high"]
    middle = (low + high) / 2
    verb = ("sweep", "compare", out)
    compare(this, *verb, "--fail-if", f"wall > {high + 1:.9f} %", status=0)
    compare(this, *verb, "--fail-if", f"wall > {low - 1:+.9f}%", status=1)
    compare(this, *verb, "--fail-if", f"wall > {middle:.9f} %", status=2)
    compare(this, *verb, "--fail-if", f"wall_s < {low - 1:.9f} %", status=0)
    compare(this, *verb, "--fail-if", f"wall > {middle:.9f} %", "--fail-if", f"wall > {low - 1:.9f} %", status=1)
    for wrong, why in (("wall > 3", "unit"), ("wall 3 %", "no > or <"), ("wal > 3 %", "wall"), ("wall > x %", "percentage")):
        said = compare(this, *verb, "--fail-if", wrong, status=125).stderr
        this.true(f"{wrong} is refused", why in said and wrong in said and said.count("\n") == 1, said)


def check_difference(this, sweep):
    row = next(row for row in compared(this, "sweep", "compare", sweep.out)["rows"] if row["figure"] == "wall_s")
    means = [math.exp(statistics.fmean(map(math.log, sweep.figure("wall_s", name)))) for name in ("short", "long")]
    for key, wanted in (("a", means[0]), ("b", means[1]), ("difference", means[1] / means[0] - 1)):
        this.true(f"{key} is that of geometric means", abs(row[key] - wanted) < 1e-6 * abs(wanted), (row[key], wanted))
    this.true("it is in its interval", row["low"] < row["difference"] < row["high"], row)
    this.equal("who is compared", (row["base"], row["configuration"], row["workload"]), ("short", "long", "sleep {seconds}"))
    named = compared(this, "compare", f"{sweep.out}:short", f"{sweep.out}:long")["rows"]
    this.equal("configurations by name", next(one for one in named if one["figure"] == "wall_s"), row)


def check(this):
    blocks = kit.Sweep(this, PLAN.format(repetitions=4, order="blocks"), name="blocks")
    blocks.run()
    check_difference(this, blocks)
    check_conditions(this, blocks.out)
    sequence = kit.Sweep(this, PLAN.format(repetitions=2, order="sequence"), name="sequence")
    sequence.run()
    warned = compared(this, "sweep", "compare", sequence.out)
    this.true("a sequence is warned of", any("a drift of the machine" in one for one in warned["warnings"]), warned["warnings"])
    this.equal("verdicts of two runs", {row["verdict"] for row in warned["rows"]}, {"cannot_tell"})
    compare(this, "sweep", "compare", sequence.out, "--fail-if", "wall > +3 %", status=2)
    both = compared(this, "compare", blocks.out, sequence.out)
    this.equal("cells of two sweeps", {(row["base"], row["configuration"]) for row in both["rows"]}, {("short",) * 2, ("long",) * 2})
    said = compare(this, "compare", f"{blocks.out}:shrot", blocks.out, status=125).stderr
    this.true("a mistyped configuration", "did you mean short?" in said, said)

    traces = [this.new_trace(), this.new_trace()]
    for trace in traces:
        this.equal("a trace", this.run(*this.command("sleep", "0.1", out=trace)).returncode, 0)
    rows = compared(this, "compare", *traces)["rows"]
    this.equal("traces have no verdict", {(row["verdict"], row["low"]) for row in rows}, {("cannot_tell", None)})
    wall = next(row for row in rows if row["figure"] == "wall_s")
    for key, trace in zip("ab", traces):
        run_s = json.loads((trace / "run.json").read_text())["wall_ns"] / 1e9
        this.true("their times", abs(wall[key] - run_s) < 1e-9, (wall, run_s))


if __name__ == "__main__":
    case.run(check)
