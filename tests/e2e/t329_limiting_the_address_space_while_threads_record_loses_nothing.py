# SPDX-License-Identifier: Apache-2.0
"""While four threads record, the program lowers its address space limit repeatedly: parts of the buffer are unmapped,
and the trace has each of their calls."""

from lib import case, issued


def check(this):
    for _ in range(3):
        issued.expect_lossless(this, "issues_limited", 40000)


if __name__ == "__main__":
    case.run(check)
