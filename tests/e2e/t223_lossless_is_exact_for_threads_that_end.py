# SPDX-License-Identifier: Apache-2.0
"""With --lossless --alloc-min 0, threads that return, call pthread_exit or are detached lose none of their calls."""

from lib import case, issued

if __name__ == "__main__":
    case.run(lambda this: issued.expect_lossless(this, "issues_threads", 300, 400, 20))
