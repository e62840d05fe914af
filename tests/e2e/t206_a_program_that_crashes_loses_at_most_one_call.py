# SPDX-License-Identifier: Apache-2.0
"""A crash by SIGSEGV after numbered calls: at most the last one may miss."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "segv", status=139))
