# SPDX-License-Identifier: Apache-2.0
"""While four threads record, the program limits its address space again and again: parts of the buffer are unmapped under
them, and each of their calls is there."""

from lib import case, issued


def check(this):
    for _ in range(3):
        issued.expect_lossless(this, "issues_limited", 40000)


if __name__ == "__main__":
    case.run(check)
