# SPDX-License-Identifier: Apache-2.0
"""Blocks for which the budget of a rule has no room get the next rule that fits, by every function that allocates, also where realloc grows one
beyond the budget. The rule that refused them counts fallbacks, the other one matches; realloc in place is no further match."""

from lib import case

MIB = 1 << 20
CALLS = f"""
import ctypes
libc = ctypes.CDLL(None)
for name in ("malloc", "realloc", "calloc"):
    getattr(libc, name).restype = ctypes.c_void_p
size, at = ctypes.c_size_t, ctypes.c_void_p
def filled(value):
    block = libc.malloc(size({8 * MIB}))
    ctypes.memset(block, value, {8 * MIB})
    return block
def resized(block, value, bytes):
    block = libc.realloc(at(block), size(bytes))
    assert holds(block, value)
    return block
def holds(block, value):  # in parts, for which no rule is
    return all(ctypes.string_at(block + part, {MIB}) == bytes([value]) * {MIB} for part in range(0, {8 * MIB}, {MIB}))
first, second, third, fourth = (filled(value) for value in range(1, 5))
first = resized(first, 1, {16 * MIB})  # beyond the budget: moves to the second rule
third = resized(third, 3, {9 * MIB})  # has room now: moves to the first rule
fourth = resized(fourth, 4, {10 * MIB})  # stays
assert holds(libc.calloc(size(1), size({8 * MIB})), 0)
block = at()
assert libc.posix_memalign(ctypes.byref(block), size({2 * MIB}), size({8 * MIB})) == 0 and block.value % {2 * MIB} == 0
"""


def check(this):
    trace = this.trace("/usr/bin/python3", "-c", CALLS, options=("--preload=off", "--place", "size >= 8M -> default budget 20M",
                                                                 "--place", "size >= 8M -> default"))
    small, large = trace.rows("placement")
    this.equal("refused by the first rule", (small["matches"], small["fallbacks"], small["fallback_bytes"]), (8, 5, 48 * MIB))
    this.equal("placed by the second one", (large["matches"], large["bytes"], large["fallbacks"]), (5, 48 * MIB, 0))
    this.equal("alive at the end", (small["live_bytes"], large["live_bytes"]), (17 * MIB, 42 * MIB))
    this.true("within the budget", small["peak_bytes"] <= 20 * MIB, small)


if __name__ == "__main__":
    case.run(check)
