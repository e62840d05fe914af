# SPDX-License-Identifier: Apache-2.0
"""In a process with one thread (glibc 2.32), a signal handler forks at every instruction of a free and a malloc that change the heap's lists: parent
and child go on with the call that it has interrupted, no block is handed out twice, and nothing waits for ever."""

from lib import case

AT_ONCE = 100  # steps of a run: mlrun has room for the caches of a limited number of processes


def check(this):
    first = 0
    while True:
        trace = this.trace(this.victim("places_steps"), "inside", first, options=("--preload=off", "--place", "-> default"))
        steps, bad = (int(word) for word in trace.stdout.split())
        this.equal(f"from step {first} on: processes that did not end well", bad, 0)
        rules = [process["rules"][0] for process in trace.run["placement"]["processes"]]
        this.true("blocks were placed, and none refused", all(rule["matches"] and not rule["fallbacks"] for rule in rules), rules)
        first += steps
        if steps < AT_ONCE:
            break
    this.true("steps", first > 300, first)


if __name__ == "__main__":
    case.run(check)
