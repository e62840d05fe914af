# SPDX-License-Identifier: Apache-2.0
"""With a policy for the whole command the pages of each process are sampled: table page_node has its private memory, and the files
that it has mapped. With rules each has its own rows, and after an exec its pages are those of the new program; what no rule places has
rows beside them."""

import sys

from lib import case

MIB = 1 << 20
HOLD = f"""
import mmap, os, subprocess, sys, time
if len(sys.argv) > 1:
    held = [bytearray(64 * {MIB}) for _ in range(2)]
    mapped = mmap.mmap(os.open(sys.argv[1], os.O_RDONLY), 0, prot=mmap.PROT_READ)
    for at in range(0, len(mapped), 4096): mapped[at]
    time.sleep(3.5)
    sys.exit()
child = subprocess.Popen([sys.executable, "-c", "import time; held = bytearray(100 * {MIB}); time.sleep(4)"])
before = [bytearray(32 * {MIB}) for _ in range(3)]
time.sleep(1.5)
os.execv(sys.executable, [sys.executable, sys.argv[0], os.path.join(os.path.dirname(sys.argv[0]), "data")])
"""


def near(wanted, got):
    return abs(got - wanted) <= 0.1 * wanted


def check(this):
    program = this.folder / "hold.py"
    program.write_text(HOLD, encoding="ascii")
    (this.folder / "data").write_bytes(bytes(48 * MIB))
    trace = this.trace(sys.executable, program, options=("--preferred", "0"))
    this.equal("policy", (trace.run["placement"]["policy"], trace.run["placement"]["mem_node"]), ("preferred", "0"))
    pages = trace.rows("page_node")
    mapped = [row["bytes"] for row in pages if row["file"] == str(this.folder / "data")]
    this.true("the mapped file", len(mapped) == 1 and near(48 * MIB, mapped[0]), pages)
    rows = [row for row in pages if row["file"] is None]
    this.equal("rules and nodes", {(row["rule"], row["node"]) for row in rows}, {(None, 0)})
    this.equal("a row for each process", len(rows), 2)
    child = min(rows, key=lambda row: row["bytes"])
    this.true("the child's memory", near(110 * MIB, child["bytes"]), rows)
    summary = " ".join(this.run(case.MLRUN, "report", trace.folder).stdout.split())
    for text in ("memory of node 0 first", "PLACED --preferred 0 100 % of its private memory on node 0"):
        this.true(f"the summary says {text!r}", text in summary, summary)

    both = this.trace(sys.executable, program, options=("--mem-node", "0", "--place", "size >= 16M -> node 0"))
    slots = [process for process in both.run["placement"]["processes"] if process["pages"]]
    this.equal("slots with pages: before and after the exec, and of the child", len(slots), 3)
    placed = sorted(row["bytes"] for row in both.rows("page_node") if row["rule"] == 0)
    this.true("bytes of the rule", all(near(*pair) for pair in zip((96 * MIB, 100 * MIB, 128 * MIB), placed, strict=True)), placed)
    rest = [row for row in both.rows("page_node") if row["rule"] is None and row["file"] is None]
    this.true("memory that no rule places", rest and all(0 < row["bytes"] < 40 * MIB and row["node"] == 0 for row in rest), rest)
    mapped = this.trace(sys.executable, program, options=("--mem-node", "0", "--place", "mmap size >= 16M -> node 0"))
    this.equal("rows without a rule, with one about mappings", [row for row in mapped.rows("page_node") if row["rule"] is None], [])


if __name__ == "__main__":
    case.run(check)
