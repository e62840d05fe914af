# SPDX-License-Identifier: Apache-2.0
"""Table page_site: each caller has the memory that its blocks are, within 3 %, whether a rule is about several callers, each has its own, or a policy
is about all memory; of blocks at addresses that are used again, each has its own pages."""

from lib import case

MIB = 1 << 20
MEMORY = {"early": 32 * MIB, "held": 48 * MIB, "late": 32 * MIB}
SHARED = ("--place", "size >= 1M -> node 0")
APART = ("--place", "size >= 6M -> node 0", "--place", "size >= 1M -> node 0")
POLICY = ("--mem-node", "0")


def site_of(row):
    return row["site_library"], row["site_offset"], row["stack_id"]


def callers(this, trace):
    """The site of each caller; the addresses of the early blocks and of the late ones."""
    taken = sorted((row for row in trace.rows("alloc") if row["size"] in (4 * MIB, 8 * MIB) and row["op"] != "free"), key=lambda row: row["ts"])
    this.equal("blocks", len(taken), 8 + 6 + 8)
    parts = {"early": taken[:8], "held": taken[8:14], "late": taken[14:]}
    sites = {name: {site_of(row) for row in rows} for name, rows in parts.items()}
    this.equal("sites", {name: len(found) for name, found in sites.items()}, dict.fromkeys(parts, 1))
    early, late = ({row["addr"] for row in parts[name]} for name in ("early", "late"))
    return {name: found.pop() for name, found in sites.items()}, early, late


def check(this):
    for options, rules in ((SHARED, (0, 0)), (APART, (1, 0)), (POLICY, (None, None))):
        trace = this.trace(this.victim("holds_by_site"), "2.4", options=(*options, "--sample=off", "--python-stacks=off"))
        sites, early, late = callers(this, trace)
        rows = trace.rows("page_site")
        for name, wanted in MEMORY.items():
            mine = [row for row in rows if site_of(row) == sites[name]]
            this.true(f"{options}: {name}", sum(row["bytes"] for row in mine) in range(int(wanted * 0.97), int(wanted * 1.03)), (mine, rows))
            this.equal(f"{options}: rule and node", {(row["rule"], row["node"]) for row in mine}, {(rules[name == "held"], 0)})
        samples = {name: max(row["samples"] for row in rows if site_of(row) == sites[name]) for name in MEMORY}
        this.true(f"{options}: samples", 1 <= samples["early"] < samples["held"] and 1 <= samples["late"] < samples["held"], samples)
        this.equal(f"{options}: the process", {row["proc_id"] for row in rows}, {1})
        if options != POLICY:
            this.true(f"{options}: addresses are used again", len(early & late) >= 4, (early, late))
            continue
        rest = sum(row["bytes"] for row in rows if row["site_library"] is None)
        this.true("memory in no listed block has a row", 0 < rest < 64 * MIB, rows)


if __name__ == "__main__":
    case.run(check)
