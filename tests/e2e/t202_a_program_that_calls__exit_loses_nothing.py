# SPDX-License-Identifier: Apache-2.0
"""_exit() runs no destructor, and still every numbered call is in the trace."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "_exit", status=7))
