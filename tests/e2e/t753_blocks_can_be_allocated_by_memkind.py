# SPDX-License-Identifier: Apache-2.0
"""`heap = "memkind"`: blocks are memkind's, in one region of the budget, and the program ends as it does untraced: with threads, forks,
alignments, resizing, late destructors, a region that is too small. Without such a rule memkind is not loaded; where it is not installed, one
line says so before the command starts."""

import ctypes

from lib import case

RULES = """[[rule]]
size = ">= 64K"
to = "default"
heap = "memkind"
budget = "{}"
"""
LOADED = """
import sys
block = bytearray(8 << 20)
maps = open("/proc/self/maps").read()
print("libmemkind" in maps)
"""


def check(this):
    rules = this.path("rules.toml")
    rules.write_text(RULES.format("256M"), encoding="ascii")
    if not is_installed():
        raise case.Skip("needs memkind (libmemkind0)")
    off = ("--preload=off",)
    for options, program, *words in (((), "places", "foreign", "nothing", "forks"), (off, "places", "aligned"), ((), "places_edges", "zero", "ends"),
                                     (off, "places_edges", "zero", "ends"), (off, "forks_with_handlers"), (off, "places_storm", 300, 4, "fork")):
        trace = this.untraced_and_traced(this.victim(program), *words, options=(*options, "--place", rules), timeout=90)
        placed = trace.run["placement"]["processes"][0]["rules"][0]
        this.true(f"{program}: memkind had the blocks", placed["matches"] > placed["fallbacks"] + 1, placed)
        this.true("within the region", 0 < placed["peak_bytes"] <= 256 << 20, placed)
    check_region_that_is_full(this, rules)
    for rule, loaded in (("-> default", "False"), (rules, "True")):
        trace = this.trace("/usr/bin/python3", "-c", LOADED, options=("--preload=off", "--place", rule))
        this.equal(f"memkind is loaded for {rule}", trace.stdout.strip(), loaded)
    check_refusals(this, rules)


def is_installed():
    try:
        ctypes.CDLL("libmemkind.so.0")
    except OSError:
        return False
    return True


def check_region_that_is_full(this, rules):
    rules.write_text(RULES.format("16M"), encoding="ascii")
    trace = this.untraced_and_traced(this.victim("places_storm"), 200, 4, options=("--preload=off", "--place", rules))
    placed = trace.run["placement"]["processes"][0]["rules"][0]
    this.true("what does not fit is the allocator's", 0 < placed["fallbacks"] < placed["matches"], placed)
    this.true("within the region", placed["peak_bytes"] <= 16 << 20, placed)


def check_refusals(this, rules):
    refused = (("-> default heap memkind", "write budget SIZE"), ("-> default heap memkind budget 1M", "16M or more"), ("-> default heap glibc", "only 'memkind'"),
               ("mmap size >= 1M -> default heap memkind", "leave it out of a rule with mmap"))
    for rule, said in refused:
        expect_refusal(this, said, rule)
    rules.write_text(RULES.format("64M").replace("memkind", "jemalloc"), encoding="ascii")
    expect_refusal(this, "only 'memkind'", rules)
    # A file of that name that is not a library, as a system without the package has none.
    this.path("absent").mkdir()
    this.path("absent/libmemkind.so.0").write_bytes(b"")
    this.environment["LD_LIBRARY_PATH"] = str(this.path("absent"))
    expect_refusal(this, "install it (Debian, Ubuntu: libmemkind0)", "-> default heap memkind budget 64M")


def expect_refusal(this, said, rule):
    out = this.new_trace()
    done = this.run(case.MLRUN, "run", "-o", out, "--place", rule, "--", "touch", this.path("ran"))
    this.equal(f"status of {rule}", (done.returncode, done.stderr.count("\n")), (125, 1), said=done.stderr)
    this.true(f"{rule}: says {said!r}", said in done.stderr, done.stderr)
    this.true("nothing is left", not out.exists() and not this.path("ran").exists())


if __name__ == "__main__":
    case.run(check)
