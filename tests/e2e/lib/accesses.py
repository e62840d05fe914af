# SPDX-License-Identifier: Apache-2.0
"""Traces of the victim touches.c with --access."""

from bisect import bisect_right

from lib import case

PAGE = 4096


def record(this, what, mib, seconds, rung, *more, env=None):
    """Runs it. (trace, addresses of its hot and cold block, pages that it touched again and again, its lines)"""
    options = ("--access=" + rung, "--alloc-min", "64K", "--python-stacks=off", "--sample=off", *more)
    trace = this.trace(this.victim("touches"), what, str(mib), str(seconds), options=options, timeout=300, env=env or this.environment)
    lines = [[int(word) for word in line.split()] for line in trace.stdout.splitlines()]
    return trace, lines[0][:2], lines[-1][0], lines


def tried(trace, rung):
    """Its entry of run.json; skips the case if this machine does not have it."""
    for one in trace.run["access"]["tried"]:
        if one["rung"] == rung and one["problem"]:
            raise case.Skip(f"{rung}: {one['problem']}")
    return next(one for one in trace.run["access"]["rungs"] if one["rung"] == rung)


def site_rows(trace, rung):
    return [row for row in trace.rows("access_site") if row["rung"] == rung]


def check_reused(this, what, mib):
    """The victim's blocks at addresses that are used again: each fault inside one belongs to it and its caller, and the sites have them all."""
    trace = this.trace(this.victim("touches"), what, mib, "1", options=("--access=faults", "--alloc-min", "64K", "--python-stacks=off", "--sample=off"))
    facts = tried(trace, "faults")
    blocks = [[int(word) for word in line.split()] for line in trace.stdout.splitlines()]
    begins = [began for _, _, began, _, _ in blocks]
    reused = len(blocks) - len({address for _, address, *_ in blocks})
    this.true("addresses are used again", reused > len(blocks) // 2, reused)
    sites, found, wrong, outside = [set(), set()], 0, [], 0
    for row in trace.rows("access"):
        at = bisect_right(begins, row["ts"]) - 1
        if at < 0 or row["ts"] > blocks[at][3]:
            outside += 1
            continue
        caller, address, began, ended, pages = blocks[at]
        if not address <= row["addr"] < address + pages * PAGE:
            outside += 1
            continue
        found += 1
        sites[caller].add((row["site_library"], row["site_offset"]))
        if row["block_addr"] != address or not began <= row["block_ts"] <= ended or not row["is_first"]:
            wrong.append((row, blocks[at]))
    this.equal("accesses with another block", wrong[:2], [])
    this.true("enough of them", found > 1000, (found, facts))
    this.true("two callers, each its own", len(sites[0]) == len(sites[1]) == 1 and sites[0] != sites[1], sites)
    touched = sum(pages for *_, pages in blocks)
    print(f"{found} of {touched} first touches seen, all joined; {reused} of {len(blocks)} addresses used again; {facts['lost']} lost")
    faults = sum(row["faults"] for row in site_rows(trace, "faults"))
    this.true("the sites have them all", found <= faults <= found + outside, (faults, found, outside))
    return trace


def two_callers(this, seconds, *options):
    """Runs the victim two_sites.c with accessed bits: the rows of its two callers, the one with smaller blocks, which is hot, first."""
    trace = this.trace(this.victim("two_sites"), seconds, options=("--access=cold", "--alloc-min", "64K", "--python-stacks=off", "--sample=off", *options), timeout=300)
    tried(trace, "cold")
    blocks, small, large = map(int, trace.stdout.split())
    sites = sorted((row for row in site_rows(trace, "cold") if row["blocks"] == blocks), key=lambda row: row["bytes"])
    this.equal("bytes of the two callers", [row["bytes"] // blocks // 65536 * 65536 for row in sites], [small, large])
    return sites


def check_told_apart(this, *options):
    """With these options, which give each of the two callers mappings of its own, one is hot and one is cold. Their rows."""
    for seconds in ("6", "20", "60"):  # on a busy machine few windows fit
        hot, cold = two_callers(this, seconds, *options)
        if all(row["seen_byte_s"] > 0.2 * row["byte_s"] for row in (hot, cold)):
            break
    for row in (hot, cold):
        this.true("a rule of its own: seen from the second window on", row["seen_byte_s"] > 0.2 * row["byte_s"], row)
    this.true("one is hot, one cold", hot["hot_ppm"] >= 980_000 and cold["hot_ppm"] <= 2_000, (hot, cold))
    return hot, cold
