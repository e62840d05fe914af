# SPDX-License-Identifier: Apache-2.0
"""--lossless --alloc-min 0: sixty children, each third one killed by SIGKILL, issue beside their parent: each process has
exactly its own."""

from lib import case, issued

if __name__ == "__main__":
    case.run(lambda this: issued.expect_lossless(this, "issues_forks", 500, 60, 3, killed=20))
