# SPDX-License-Identifier: Apache-2.0
"""The calls of t365, 1,000,000 of them."""

from lib import case, fuzzed_calls


def check(this):
    fuzzed_calls.compare(this, 21, 1000, 1000, options=["--summary-only"])


if __name__ == "__main__":
    case.run(check)
