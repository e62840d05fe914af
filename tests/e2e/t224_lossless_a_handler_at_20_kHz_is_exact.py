# SPDX-License-Identifier: Apache-2.0
"""--lossless --alloc-min 0 in the smallest buffer: a handler at 20 kHz strikes anywhere, also where the thread waits for
room, and the calls of both are there once."""

from lib import case, issued

if __name__ == "__main__":
    case.run(lambda this: issued.expect_lossless(this, "issues_handler", 150000, options=("--buffer", "4M")))
