# SPDX-License-Identifier: Apache-2.0
"""multiprocessing.Pool by fork: terminate() ends the workers by SIGTERM, and every call that they made is in the
trace."""

from lib import case, pool


def check(this):
    pool.expect_all_reads(this, "fork")


if __name__ == "__main__":
    case.run(check)
