# SPDX-License-Identifier: Apache-2.0
"""quick_exit() skips exit handlers, and still every numbered call is in the trace."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "quick_exit", status=7))
