# SPDX-License-Identifier: Apache-2.0
"""After abort(), the trace has every numbered call, and the exit status is that of SIGABRT."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "abort", status=134))
