# SPDX-License-Identifier: Apache-2.0
"""A signal handler forks at every instruction of a free and a malloc that change the heap's lists: parent and child go on with the call that it has
interrupted, no block is handed out twice, and nothing waits for ever. In a process with one thread (glibc 2.32), and in one with two, under a rule
with caches of freed blocks and under one without. The same of a free and a malloc that a cache serves."""

from lib import case

AT_ONCE = 100  # steps of a run: mlrun has room for the caches of a limited number of processes


def steps_of(this, name, rule):
    first = 0
    while True:
        trace = this.trace(this.victim("places_steps"), name, first, options=("--preload=off", "--place", rule))
        steps, bad = (int(word) for word in trace.stdout.split())
        this.equal(f"{name} from step {first} on: processes that did not end well", bad, 0)
        rules = [process["rules"][0] for process in trace.run["placement"]["processes"]]
        this.true("blocks were placed, and none refused", all(rule["matches"] and not rule["fallbacks"] for rule in rules), rules)
        first += steps
        if steps < AT_ONCE:
            return first


def check(this):
    cases = (("inside", "-> default", 300), ("beside", "-> default", 300), ("beside", "-> default budget 512M", 100), ("cached", "-> default", 100))
    for name, rule, least in cases:
        steps = steps_of(this, name, rule)
        this.true(f"{name}: steps", steps > least, steps)


if __name__ == "__main__":
    case.run(check)
