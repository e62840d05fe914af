# SPDX-License-Identifier: Apache-2.0
"""Random programs of calls on descriptors and streams: bytes, results, paths and offsets equal those that strace sees
in the same run, and the rows of a thread do not overlap."""

from lib import case, random_calls


def check(this):
    random_calls.expect_agreement(this, seed=1, programs=150)


if __name__ == "__main__":
    case.run(check)
