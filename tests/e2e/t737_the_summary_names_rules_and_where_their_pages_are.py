# SPDX-License-Identifier: Apache-2.0
"""Pages of placed blocks are sampled from outside: table page_node has as much memory as the program holds, on the machine's nodes, and the
summary names each rule, with its share of pages, and the rule that no block fits. Processes without room for their counts are reported."""

import json

from lib import case

HOLD = """
import time
blocks = [bytearray(8 << 20) for _ in range(8)]
time.sleep(3.5)
"""
BYTES = 8 * (8 << 20)
FORK = """
import os
hold, go_on = os.pipe()
done, has_placed = os.pipe()
for _ in range(60):
    if os.fork() == 0:
        block = bytearray(2 << 20)
        os.write(has_placed, b".")
        os.close(go_on)
        os.read(hold, 1)
        os._exit(0)
for _ in range(60): os.read(done, 1)
os.close(go_on)
for _ in range(60): os.wait()
"""


def check(this):
    options = ("--preload=off", "--place", "size >= 1G -> default", "--place", "size >= 1M -> node 0")
    out = this.new_trace()
    command = [case.MLRUN, "run", "-o", out, *options, "--", "/usr/bin/python3", "-c", HOLD]
    done = this.run(*command)
    this.equal("exit status", done.returncode, 0, said=done.stderr)
    trace = this.opened(out)
    rules = {row["rule"]: row for row in trace.rows("placement")}
    this.equal("the rule without blocks", (rules[0]["matches"], rules[0]["pid"]), (0, None))
    this.true("the other one's peak", BYTES <= rules[1]["peak_bytes"] < BYTES * 1.1, rules[1])
    pages = trace.rows("page_node")
    this.true("sampled more than once", pages and all(row["samples"] >= 2 and row["rule"] == 1 for row in pages), pages)
    this.true("as much as there is", abs(sum(row["bytes"] for row in pages) - BYTES) < BYTES * 0.1, pages)
    this.equal("pages by caller, without the recorder", trace.rows("page_site"), [])
    described = json.loads(this.run(case.MLRUN, "report", out, "--json").stdout)["placement"]["rules"]
    this.equal("report --json", [(rule["rule"], rule["matches"], [node["node"] for node in rule["nodes"]]) for rule in described],
               [(options[2], 0, []), (options[4], rules[1]["matches"], sorted({row["node"] for row in pages}))])
    for said in ("PLACED  'size >= 1G -> default'  no block fits this rule", "PLACED  'size >= 1M -> node 0'  8 blocks of", "of its pages on node 0"):
        this.true(f"the summary says {said!r}", said in done.stderr, done.stderr)
    crowd = this.trace("/usr/bin/python3", "-c", FORK, options=["--preload=off", *("--place", "size >= 2M -> default") * 64])
    counted, more = sum(row["matches"] for row in crowd.rows("placement")), crowd.run["placement"]["not_counted"]
    this.equal("blocks of processes with and without room", (counted + more, more > 0), (60, True))
    said = " ".join(this.run(case.MLRUN, "report", crowd.folder).stdout.split())
    for text in (f"not counted: the blocks of {more} more processes", "no block of the counted processes fits this rule"):
        this.true(f"said {text!r}", text in said, said)


if __name__ == "__main__":
    case.run(check)
