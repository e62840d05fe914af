# SPDX-License-Identifier: Apache-2.0
"""With --lossless --alloc-min 0, sixty children issue calls beside their parent and every third is killed by SIGKILL;
each process has exactly its own calls."""

from lib import case, issued

if __name__ == "__main__":
    case.run(lambda this: issued.expect_lossless(this, "issues_forks", 500, 60, 3, killed=20))
