# SPDX-License-Identifier: Apache-2.0
"""PyArrow's pools: jemalloc and mimalloc are linked in and seen by no hook, and coverage gives the memory that they
mapped or says that their use is unknown; the system pool uses libc and is listed."""

import sys

from lib import case

SCRIPT = """
import pyarrow
pool = pyarrow.default_memory_pool()
blocks = [pyarrow.allocate_buffer(3000017, memory_pool=pool) for _ in range(20)]
table = pyarrow.table({"x": list(range(1000))})
print(pool.backend_name, sum(block.size for block in blocks), pool.bytes_allocated() >= 60000340, table.num_rows)
"""


def check(this):
    for pool in ("jemalloc", "mimalloc", "system"):
        more = {"env": this.environment | {"ARROW_DEFAULT_MEMORY_POOL": pool}}
        trace = this.untraced_and_traced(sys.executable, "-c", SCRIPT, **more)
        large = [row for row in trace.rows("alloc") if row["op"] != "free" and 3000017 <= row["size"] < 3000200]
        rows = [row for row in trace.covers("linked into") if "/libarrow.so" in row["detail"]]
        named = [row["detail"] for row in rows]
        this.equal("rows of coverage about its allocators", len(named), 1)
        this.true("both are named", "jemalloc" in named[0] and "mimalloc" in named[0], named)
        said = "nothing shows that it was used" if pool == "system" else "it mapped "
        this.true(f"what shows the use of {pool}", said in named[0], named)
        this.equal(f"what the row is with {pool}", [row["level"] for row in rows], ["remark" if pool == "system" else "unseen"])
        if pool == "system":
            this.equal("blocks of the system's pool", len(large), 20)


if __name__ == "__main__":
    case.run(check)
