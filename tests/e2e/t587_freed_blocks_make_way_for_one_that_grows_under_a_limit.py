# SPDX-License-Identifier: Apache-2.0
"""Where a limit of the address space refuses that a block grows, what the rule keeps of freed blocks goes first: the block then grows at its address,
as without them."""

from lib import case


def check(this):
    for name in ("kept", "behind"):
        trace = this.trace(this.victim("places_grown"), name, options=("--preload=off", "--place", "-> default"))
        this.equal(f"{name}: contents and address are kept", trace.stdout, "1\n")


if __name__ == "__main__":
    case.run(check)
