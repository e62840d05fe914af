# SPDX-License-Identifier: Apache-2.0
"""A library that patches the code of libc's munmap and madvise (UCX, Open MPI, libfabric do, for memory that is registered with a device) sees every
page that a placed block loses: when it is freed, becomes smaller, or moves. Otherwise it would send from pages that are gone."""

from lib import case

CASES = ["freed", "smaller", "moved", "grown"]


def losses(this, said):
    rows = [line.split() for line in said.splitlines()]
    this.equal("cases", [row[0] for row in rows], CASES)
    for name, lost, without in rows:
        this.equal(f"{name}: pages of {lost} that went unseen", int(without), 0)
    return {name: int(lost) for name, lost, _ in rows}


def check(this):
    victim = this.victim("patches_libc")
    plain = this.run(victim)
    if plain.returncode == 77:
        raise case.Skip("code of libc cannot be made writable here")
    losses(this, plain.stdout)
    for options in (("--place", "-> default"), ("--preload=off", "--place", "-> default")):
        lost = losses(this, this.trace(victim, options=options).stdout)
        this.true("each case has released pages", all(lost.values()), lost)


if __name__ == "__main__":
    case.run(check)
