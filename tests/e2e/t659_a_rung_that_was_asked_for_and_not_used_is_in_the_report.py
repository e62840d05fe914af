# SPDX-License-Identifier: Apache-2.0
"""A rung of --access that was named beside one that works, or a rate that only precise events have, and that this machine lacks: standard error, coverage and the report say
why. Without a name or a rate nothing is said of the rungs that were tried before."""

from lib import case


def remarks(trace):
    return [row for row in trace.rows("coverage") if "asked for them" in row["detail"]]


def check(this):
    for name, asked, lacking in (("named", "faults,precise", "precise"), ("rate", "50000", "precise")):
        trace = this.trace("/bin/echo", "ran", options=(f"--access={asked}",))
        if not trace.run["access"]["rungs"]:
            raise case.Skip("no rung works here")
        problems = {one["rung"]: one["problem"] for one in trace.run["access"]["tried"]}
        if not problems[lacking]:
            raise case.Skip("this machine has precise events")
        this.true(f"{name}: standard error", f"--access cannot use: {lacking}: " in trace.stderr, trace.stderr)
        said = remarks(trace)
        this.true(f"{name}: coverage", [row["subject"] for row in said] == [f"accesses by {lacking}"] and problems[lacking] in said[0]["detail"], said)
        report = " ".join(this.run(case.MLRUN, "report", "--full", trace.folder).stdout.split())
        this.true(f"{name}: report", "asked for them, and they were not recorded" in report, report)
    trace = this.trace("/bin/echo", "ran", options=("--access",))
    this.equal("without a name or a rate", (remarks(trace), "cannot use" in trace.stderr), ([], False), said=trace.stderr)


if __name__ == "__main__":
    case.run(check)
