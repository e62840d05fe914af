# SPDX-License-Identifier: Apache-2.0
"""The summary of a program that is not a training is short, has no findings and no empty block; for a program that failed at
once it adds little to the program's own output."""

from lib import case
from lib.summary_text import blocks


def check_short(this, *command):
    out = this.new_trace()
    done = this.run(case.MLRUN, "-o", out, "--", *command)
    this.equal(f"exit status of {command}", done.returncode, 0, said=done.stderr)
    lines = done.stderr.splitlines()
    shown = blocks(lines)
    this.true(f"{command}: short", len(lines) <= 30, done.stderr)
    this.true(f"{command}: nothing is found", "FINDINGS" not in shown, done.stderr)
    this.equal(f"{command}: empty blocks", [name for name, rows in shown.items() if not rows], [])


def check(this):
    data = this.data_file()
    check_short(this, "ls", "/usr/lib")
    check_short(this, "cksum", data)
    failed = this.run(case.MLRUN, "-o", this.path("failed"), "--", "/usr/bin/python3", "-c", "raise ValueError('a clear reason')")
    this.equal("exit status", failed.returncode, 1)
    lines = failed.stderr.splitlines()
    reason = lines.index("ValueError: a clear reason")
    this.true("little follows the reason", len(lines) - reason <= 8, failed.stderr)
    this.true("how to see the rest", any("mlrun report" in line and "failed" in line for line in lines[reason:]), failed.stderr)
    whole = this.run(case.MLRUN, "report", this.path("failed")).stdout
    this.true("report has it", "WHERE THE TIME WENT" in whole, whole)


if __name__ == "__main__":
    case.run(check)
