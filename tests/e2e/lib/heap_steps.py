# SPDX-License-Identifier: Apache-2.0
"""Signal handlers at every instruction of malloc and free of a placed block: runs of the victim places_steps."""

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
