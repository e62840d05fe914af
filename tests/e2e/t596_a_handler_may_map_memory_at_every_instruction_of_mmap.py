# SPDX-License-Identifier: Apache-2.0
"""A signal handler that interrupts mmap at any instruction, in a process with several threads, may map memory under the same rule: it does not wait
for the call that it has interrupted, and the rule counts each mapping once."""

from lib import case

SIZE = 8 << 20


def check(this):
    for options in (("--place", "mmap size >= 4M -> node 0"), ("--preload=off", "--place", "mmap size >= 4M -> node 0")):
        trace = this.trace(this.victim("maps_steps"), options=options)
        made, steps = (int(word) for word in trace.stdout.split())
        (process,) = trace.run["placement"]["processes"]
        (rule,) = process["rules"]
        this.true("steps", steps > 100, steps)
        this.equal("counted", (rule["matches"], rule["bytes"], rule["fallbacks"]), (made, made * SIZE, 0))


if __name__ == "__main__":
    case.run(check)
