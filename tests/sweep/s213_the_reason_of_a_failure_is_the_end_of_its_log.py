# SPDX-License-Identifier: Apache-2.0
"""However much a program has written to its standard error, the reason of its failure is the last line, whatever bytes are in it."""

import json

import kit
from kit import case

PLAN = """repetitions = 1
workloads = ["sh {folder}/script {{what}}"]
[parameters]
what = ["long", "line", "bytes", "none"]
[[configuration]]
name = "dry"
dry = true
"""
SCRIPT = r"""case $1 in
long) yes "a line of the log" | head -c 40000000 >&2; printf '\nError: no more\n\n' >&2 ;;
line) head -c 40000000 /dev/zero | tr '\0' x >&2 ;;
bytes) printf 'Error: \303\050 \033[31m\n' >&2 ;;
esac
exit 3
"""
FAILURES = {"long": "exit status 3: Error: no more", "line": "exit status 3: " + 200 * "x", "bytes": "exit status 3: Error: \ufffd( \x1b[31m", "none": "exit status 3"}


def check(this):
    this.path("script").write_text(SCRIPT)
    sweep = kit.Sweep(this, PLAN.format(folder=this.folder))
    sweep.run(status=1)
    runs = json.loads(this.run(case.MLRUN, "sweep", "list", sweep.out, "--json").stdout)["runs"]
    this.equal("failures", {run["workload"].split()[-1]: run["failure"] for run in runs}, FAILURES)
    shown = this.run(case.MLRUN, "sweep", "list", sweep.out).stdout
    this.true("escape sequences are shown as text", "\x1b" not in shown and "Error: \\xc3( \\x1b[31m" in shown, shown)


if __name__ == "__main__":
    case.run(check)
