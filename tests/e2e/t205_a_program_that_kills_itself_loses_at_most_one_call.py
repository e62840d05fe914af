# SPDX-License-Identifier: Apache-2.0
"""After a program kills itself by SIGKILL, at most the last numbered call is missing."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "kill", status=137))
