# SPDX-License-Identifier: Apache-2.0
"""After a crash by SIGSEGV, at most the last numbered call is missing."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "segv", status=139))
