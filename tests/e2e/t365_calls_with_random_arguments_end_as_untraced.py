# SPDX-License-Identifier: Apache-2.0
"""24,000 calls with bad pointers, overlapping buffers, odd flags and closed descriptors, on small stacks, under filters
and on memory that is unmapped: results, errno and memory are as untraced."""

from lib import case, fuzzed_calls


def check(this):
    fuzzed_calls.compare(this, 2026, 40, 400)
    fuzzed_calls.compare(this, 2027, 10, 400, options=["--stacks"])
    fuzzed_calls.compare(this, 2028, 10, 400, options=["--exclude", "**/d0/**"])


if __name__ == "__main__":
    case.run(check)
