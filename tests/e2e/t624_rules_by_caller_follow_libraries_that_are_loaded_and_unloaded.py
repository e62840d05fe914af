# SPDX-License-Identifier: Apache-2.0
"""Two libraries are loaded and unloaded in turns at the same addresses: rules about one of them, by its name, its function or its build id, place
its blocks alone. Where libc finds libraries without a lock (glibc 2.35), no such block costs a system call."""

import os
import re

from lib import case

ROUNDS = 20
FEW, MANY = 1000, 5000
OF_LOADING = 20  # system calls: pages that are looked at when the library is loaded depend on random addresses


def build_id(this, library):
    return re.search(r"Build ID: ([0-9a-f]+)", this.run("readelf", "-n", library).stdout)[1]


def rules_about(this, name, library):
    anywhere = f"{build_id(this, library)}+0-ffffff"
    return [f"size >= 4K and {condition} -> default"
            for condition in (f"library unloaded_{name}.so", f"function {name}_allocates", f"site {anywhere}", f"site {anywhere},{anywhere}")]


def matches(trace):
    return sum(rule["matches"] for process in trace.run["placement"]["processes"] for rule in process["rules"])


def system_calls(this, times, library, rule):
    """Of the program alone: strace is a command of mlrun, too."""
    counts = this.path(f"counts{times}")
    trace = this.trace("strace", "-c", "-o", counts, this.victim("calls_library"), times, library, options=("--preload=off", "--place", rule))
    this.equal(f"blocks of {rule}", matches(trace), times)
    return {words[-1]: int(words[3]) for words in map(str.split, counts.read_text(encoding="ascii").splitlines())
            if len(words) > 4 and words[3].isdigit() and words[-1] != "total"}


def check(this):
    case.need_program("readelf")
    libraries = {name: this.victim(f"unloaded_{name}.so") for name in ("one", "two")}
    for name, library in libraries.items():
        for rule in rules_about(this, name, library):
            for options in ((), ("--preload=off",)):
                trace = this.trace(this.victim("unloads"), ROUNDS, *libraries.values(), options=(*options, "--place", rule))
                this.equal(f"blocks of {rule} {options}", matches(trace), ROUNDS)
    case.need_command("strace", "-o", "/dev/null", "true")
    if tuple(map(int, re.findall(r"\d+", os.confstr("CS_GNU_LIBC_VERSION"))[:2])) < (2, 35):
        return  # libc cannot be asked without a system call
    for rule in rules_about(this, "one", libraries["one"]):
        few, many = (system_calls(this, times, libraries["one"], rule) for times in (FEW, MANY))
        more = {name: count - few.get(name, 0) for name, count in many.items() if count > few.get(name, 0) + OF_LOADING}
        this.equal(f"system calls of {MANY - FEW} more blocks of {rule}", more, {})


if __name__ == "__main__":
    case.run(check)
