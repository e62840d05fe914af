# SPDX-License-Identifier: Apache-2.0
"""After quick_exit(), which skips exit handlers, the trace has every numbered call."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "quick_exit", status=7))
