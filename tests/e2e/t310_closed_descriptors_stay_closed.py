# SPDX-License-Identifier: Apache-2.0
"""A program started with stdin, stdout or stderr closed sees them closed, and no file of mlrun takes their numbers."""

from lib import case


def check(this):
    report = this.path("report")
    for closing in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        shell = ("/bin/sh", "-c", f'"$@" {closing} 5>"$REPORT"', "sh")
        more = {"env": this.environment | {"REPORT": str(report)}}
        victim = ("/bin/sh", "-c", '"$@" 1>&5', "sh", this.victim("descriptors"))
        plain = this.run(*shell, *victim, **more)
        expected = (plain.returncode, report.read_text())
        traced = this.run(*shell, *this.command(*victim, out=this.new_trace()), **more)
        this.equal(f"with {closing}", (traced.returncode, report.read_text()), expected)


if __name__ == "__main__":
    case.run(check)
