# SPDX-License-Identifier: Apache-2.0
"""--quiet adds nothing to the program's own output; without it the summary follows the program's output on stderr, and
report prints the same again."""

from lib import case


def check(this):
    command = ("/bin/sh", "-c", "echo out; echo err >&2")
    quiet = this.run(*this.command(*command, out=this.new_trace()))
    this.equal("with --quiet", (quiet.stdout, quiet.stderr), ("out\n", "err\n"))
    out = this.new_trace()
    reported = this.run(case.MLRUN, "--preload", "-o", out, "--", *command)
    this.equal("stdout", reported.stdout, "out\n")
    this.true("the summary follows the program's own words", reported.stderr.startswith("err\n") and len(reported.stderr) > 200,
              reported.stderr)
    again = this.run(case.MLRUN, "report", out)
    this.equal("exit status of report", again.returncode, 0, said=again.stderr)
    figures = [line for line in again.stdout.split("\n") if ("calls" in line or "read" in line) and not line.startswith("trace ")]
    this.true("report prints the same", figures and all(line in reported.stderr for line in figures), again.stdout)


if __name__ == "__main__":
    case.run(check)
