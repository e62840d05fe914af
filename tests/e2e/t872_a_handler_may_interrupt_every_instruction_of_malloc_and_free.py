# SPDX-License-Identifier: Apache-2.0
"""In a process with one thread (glibc 2.32), signal handlers that interrupt malloc or free of a placed block at any instruction may allocate, fork, or never
return: no block loses what its owner wrote, and nothing waits for ever."""

from lib import case


AT_ONCE = 100  # steps of a run: mlrun has room for the caches of a limited number of processes


def steps_of(this, name, first, options):
    """How many steps of the case there were, from `first` on."""
    trace = this.trace(this.victim("places_steps"), name, first, options=options)
    steps, bad = (int(word) for word in trace.stdout.split())
    this.equal(f"{name} from {first} on, {options}: processes that did not end well", bad, 0)
    rules = [process["rules"][0] for process in trace.run["placement"]["processes"]]
    this.true("blocks were placed, and none refused", all(rule["matches"] and not rule["fallbacks"] for rule in rules), rules)
    this.true("live bytes did not become negative", all(rule["live_bytes"] <= rule["peak_bytes"] < 1 << 30 for rule in rules), rules)
    return steps


def check(this):
    alone, recorded = ("--preload=off", "--place", "-> default"), ("--place", "-> default")
    for options in (alone, recorded):
        this.true("handlers that allocate", steps_of(this, "allocates", 0, options) > 400)
    for name in ("forks", "jumps"):
        first = 0
        while (done := steps_of(this, name, first, alone)) == AT_ONCE:
            first += AT_ONCE
        this.true(f"{name}: steps", first + done > 100, first + done)


if __name__ == "__main__":
    case.run(check)
