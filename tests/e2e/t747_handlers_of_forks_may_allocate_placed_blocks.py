# SPDX-License-Identifier: Apache-2.0
"""Handlers of pthread_atfork allocate, resize and free placed blocks while other threads allocate: before the fork, in the parent and in the
child, whatever was registered first. The program ends as it does untraced, with the recorder and without."""

from lib import case


def check(this):
    for options in (("--place", "-> default"), ("--preload=off", "--place", "-> default")):
        trace = this.untraced_and_traced(this.victim("forks_with_handlers"), options=options, timeout=90)
        placed = trace.run["placement"]["processes"]
        this.true("blocks were placed", placed and placed[0]["rules"][0]["matches"] > 40, trace.run["placement"])


if __name__ == "__main__":
    case.run(check)
