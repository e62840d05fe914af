# SPDX-License-Identifier: Apache-2.0
"""`env -i` and an exec with an environment of its own: the program after it is recorded all the same, and sees no
variable that it was not given but ours."""

from lib import case, serials

CALLS = 1000


def check(this):
    data = this.data_file()
    trace = this.trace("env", "-i", this.victim("numbered"), data, CALLS, "exit", status=7)
    serials.expect_threads(this, trace.serials(data), [CALLS])
    seen = this.run(*this.command("env", "-i", "A=1", "/usr/bin/env", out=this.new_trace())).stdout.split("\n")
    names = {line.split("=")[0] for line in seen if line}
    this.true("variables", {"A"} <= names <= {"A", "LD_PRELOAD", "MLRUN_SESSION"}, names)


if __name__ == "__main__":
    case.run(check)
