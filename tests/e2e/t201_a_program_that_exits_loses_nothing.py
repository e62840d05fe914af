# SPDX-License-Identifier: Apache-2.0
"""After exit(), the trace has every numbered call."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "exit", status=7))
