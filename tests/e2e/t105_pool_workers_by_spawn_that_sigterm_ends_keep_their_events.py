# SPDX-License-Identifier: Apache-2.0
"""multiprocessing.Pool by spawn: terminate() ends the workers by SIGTERM, and the trace has every call that they
made."""

from lib import case, pool


def check(this):
    pool.expect_all_reads(this, "spawn")


if __name__ == "__main__":
    case.run(check)
