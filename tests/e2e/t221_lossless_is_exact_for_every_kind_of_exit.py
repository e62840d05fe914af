# SPDX-License-Identifier: Apache-2.0
"""With --lossless --alloc-min 0, two threads end by exit, _exit, quick_exit, abort, exec and SIGKILL; the trace has
each call, allocation and free that they issued, except the one in progress in a killed thread."""

from lib import case, issued

ROUNDS = 30000


def check(this):
    for end, status in (("exit", 7), ("_exit", 7), ("quick_exit", 7), ("abort", 134), ("exec", 7), ("kill", 137)):
        issued.expect_lossless(this, "issues_ends", ROUNDS, end, status=status, killed=2 if end == "kill" else 0)


if __name__ == "__main__":
    case.run(check)
