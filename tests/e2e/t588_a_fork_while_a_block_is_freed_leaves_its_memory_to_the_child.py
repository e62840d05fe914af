# SPDX-License-Identifier: Apache-2.0
"""A thread forks while another one frees a block that had grown: in the child, which lacks that thread, the block's memory is unmapped, and its
addresses go to the next block that grows."""

from lib import case


def check(this):
    victim = this.victim("patches_libc")
    if this.run(victim).returncode == 77:
        raise case.Skip("code of libc cannot be made writable here")
    trace = this.trace(victim, "forks", options=("--preload=off", "--place", "-> default"))
    this.equal("in the child: the memory is mapped, the address is used again", trace.stdout, "0 1\n")


if __name__ == "__main__":
    case.run(check)
