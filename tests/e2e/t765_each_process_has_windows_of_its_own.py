# SPDX-License-Identifier: Apache-2.0
"""Two processes, one of which begins later: each has windows of its own, and what was seen is a share of the time of both together. A process that has
ended has no block that lives on."""

from lib import accesses, case

MIB = 1 << 20


def check(this):
    touches = this.victim("touches")
    for seconds in (4, 12, 40):  # on a busy machine few windows fit
        script = f"{touches} random 16 {seconds} >first & sleep 1; {touches} random 24 {seconds} >second & wait"
        trace = this.trace("/bin/sh", "-c", f"cd {this.folder}; {script}; sleep 1", timeout=300,
                           options=("--access=cold", "--alloc-min", "64K", "--python-stacks=off", "--sample=off"))
        facts = accesses.tried(trace, "cold")
        rows = [row for row in trace.rows("access") if not row["filling"]]
        seen = {}
        for name, mib in (("first", 16), ("second", 24)):
            hot = int(this.path(name).read_text().split()[0])
            seen[name] = [row for row in rows if row["addr"] <= hot < row["addr"] + row["bytes"] and row["block_addr"] in (hot, None)]
        if all(seen.values()):
            break
    this.true("both have windows", all(seen.values()), {name: len(rows) for name, rows in seen.items()})
    this.equal("of one process each", [len({row["proc_id"] for row in rows}) for rows in seen.values()], [1, 1])
    this.true("what was seen is a share of the time", 0 < facts["on_ns"] <= facts["all_ns"], facts)
    processes = {row["proc_id"]: row for row in trace.rows("process")}
    for site in accesses.site_rows(trace, "cold"):
        process = processes[site["proc_id"]]
        this.true("no block lives longer than its process", site["lifetime"] <= process["last"] - process["first"] + 10**8, (site, process))


if __name__ == "__main__":
    case.run(check)
