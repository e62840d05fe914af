# SPDX-License-Identifier: Apache-2.0
"""A rule about a function fits by any name that the function has in its library; one about a program or its code fits whatever the program has written
over its argv[0], also in a forked child."""

from lib import case


def matches(this, what, rule):
    trace = this.trace(this.victim("places_grown"), what, options=("--preload=off", "--place", rule))
    this.equal("contents are kept", trace.stdout, "1\n")
    return sum(process["rules"][0]["matches"] for process in trace.run["placement"]["processes"])


def check(this):
    for name, wanted in (("getdelim", 1), ("__getdelim", 1), ("*getdelim", 1), ("getdelimiter", 0)):
        this.equal(f"function {name}", matches(this, "line", f"function {name} -> default"), wanted)
    for rule in ("command places_grown", "library places_grown", "command places_*"):
        this.equal(rule, matches(this, "renames", f"{rule} -> default"), 2)
    this.equal("the name that it shows", matches(this, "renames", "command x* -> default"), 0)


if __name__ == "__main__":
    case.run(check)
