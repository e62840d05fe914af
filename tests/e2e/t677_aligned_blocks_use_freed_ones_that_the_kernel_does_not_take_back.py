# SPDX-License-Identifier: Apache-2.0
"""Where the kernel refuses to take pages back (locked memory before Linux 5.18, a seccomp filter), a freed block aligned to more than a page
serves the next one: what is resident stays at the peak of what was alive."""

from lib import case

MIB = 1 << 20
PEAK_MIB, MORE_MIB = 96, 8


def check(this):
    trace = this.trace(this.victim("places_budget"), "aligned", options=("--preload=off", "--place", "size >= 1M -> default"))
    resident, _ = map(int, trace.stdout.split())
    (rule,) = trace.rows("placement")
    this.equal("placed blocks", (rule["matches"], rule["fallbacks"]), (124, 0), said=rule)
    this.true("resident", resident <= (PEAK_MIB + MORE_MIB) * MIB, resident / MIB)


if __name__ == "__main__":
    case.run(check)
