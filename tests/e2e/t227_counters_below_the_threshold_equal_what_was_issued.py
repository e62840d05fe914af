# SPDX-License-Identifier: Apache-2.0
"""Small allocations below the default threshold are counted; the counters equal what was issued, however threads and
processes end."""

from lib import case, issued


def check(this):
    for end, status in (("_exit", 7), ("abort", 134), ("exec", 7), ("kill", 137)):
        issued.expect_counted(this, "issues_ends", 30000, end, status=status, killed=2 if end == "kill" else 0)
    issued.expect_counted(this, "issues_forks", 500, 60, 3, killed=20)
    issued.expect_counted(this, "issues_threads", 300, 400, 20)
    issued.expect_counted(this, "issues_handler", 100000)
    issued.expect_counted(this, "issues_closefrom", 20000)


if __name__ == "__main__":
    case.run(check)
