# SPDX-License-Identifier: Apache-2.0
"""exit() after numbered calls: every one is in the trace."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "exit", status=7))
