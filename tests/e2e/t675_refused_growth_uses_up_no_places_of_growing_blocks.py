# SPDX-License-Identifier: Apache-2.0
"""After a limit of the address space has refused 300 times that a block grows, and is gone, a block still grows without a copy: it moves once,
to where it has room, and then keeps its address."""

from lib import case


def check(this):
    trace = this.trace(this.victim("places_grown"), "refused", options=("--preload=off", "--place", "size >= 1M -> default"))
    this.equal("contents and address are kept", trace.stdout, "1\n")


if __name__ == "__main__":
    case.run(check)
