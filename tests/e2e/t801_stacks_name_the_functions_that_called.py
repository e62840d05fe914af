# SPDX-License-Identifier: Apache-2.0
"""--stacks: each recorded call and allocation has a stack with function, library, source file and line; the summary and
`show` name the functions that allocate and read."""

import json

from lib import case
from lib.stacks import Stacks


def check(this):
    data, victim = this.data_file(), this.victim("named")
    trace = this.trace(victim, data, options=["--stacks=16"])
    stacks = Stacks(trace)

    reads = [row for row in trace.rows("call") if row["func"] == "pread"]
    this.equal("reads", len(reads), 100)
    this.equal("stacks of the reads", len({row["stack_id"] for row in reads}), 1)
    this.equal("who reads", stacks.functions(reads[0]["stack_id"])[:3], ["read_block", "do_epoch", "main"])

    blocks = [row for row in trace.rows("alloc") if row["op"] == "malloc" and row["size"] == 70000]
    this.equal("blocks", len(blocks), 100)
    stack_id = blocks[0]["stack_id"]
    this.equal("stacks of the blocks", {row["stack_id"] for row in blocks}, {stack_id})
    this.equal("who allocates", stacks.functions(stack_id)[:3], ["make_block", "do_epoch", "main"])
    this.equal("how the stack ends", stacks.ends[stack_id], "root")
    frame = stacks.by_id[stack_id][0]
    this.true("library", frame.library == victim, frame)
    this.true("source line", frame.source.endswith("named.c") and frame.line > 0, frame)
    names = trace.names
    this.equal("library of the site", {names.get(row["site_library"]) for row in blocks}, {victim})
    this.true("frees have no stack",
              all(row["stack_id"] is None for row in trace.rows("alloc") if row["op"] == "free"))

    report = this.run(case.MLRUN, "report", "--json", trace.folder)
    sites = json.loads(report.stdout)["sites"]
    this.true("the summary names the allocating function",
              {"kind": "allocations", "function": "make_block", "library": victim, "calls": 100, "bytes": 7000000}.items()
              <= next(site for site in sites if site["function"] == "make_block").items(), sites)
    this.true("the summary names the reading function",
              any(site["kind"] == "files" and site["function"] == "read_block" and site["calls"] == 100
                  and site["bytes"] == 409600 for site in sites), sites)
    text = this.run(case.MLRUN, "report", "--full", trace.folder).stdout
    this.true("the text has both blocks", "ALLOCATED BY" in text and "FILE CALLS BY" in text, text)
    shown = this.run(case.MLRUN, "show", trace.folder, "stack", "--where", f"stack_id = {stack_id}").stdout
    this.true("show prints the chain", "make_block (named)" in shown and "do_epoch (named)" in shown, shown)

    plain = this.trace(victim, data)
    this.true("no stack unasked", all(row["stack_id"] is None for row in plain.rows("call") + plain.rows("alloc")))
    this.equal("no stacks unasked", (plain.rows("stack"), plain.rows("frame")), ([], []))
    wrong = this.run(case.MLRUN, "run", "--stacks=500", "--", victim, data)
    this.true("a wrong depth is refused in one line", wrong.returncode == 125 and wrong.stderr.count("\n") == 1,
              wrong.stderr)


if __name__ == "__main__":
    case.run(check)
