# SPDX-License-Identifier: Apache-2.0
"""The random programs of t640, many more of them."""

from lib import case, random_calls


def check(this):
    random_calls.expect_agreement(this, seed=100000, programs=3000)


if __name__ == "__main__":
    case.run(check)
