# SPDX-License-Identifier: Apache-2.0
"""After _exit(), which runs no destructors, the trace has every numbered call."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "_exit", status=7))
