# SPDX-License-Identifier: Apache-2.0
"""SIGKILL to itself after numbered calls: at most the last one may miss."""

from lib import case, serials

if __name__ == "__main__":
    case.run(lambda this: serials.expect_ending_keeps_all(this, "kill", status=137))
