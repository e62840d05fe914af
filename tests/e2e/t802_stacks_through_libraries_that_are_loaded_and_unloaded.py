# SPDX-License-Identifier: Apache-2.0
"""Two libraries are loaded and unloaded in turns at the same addresses: each allocation is attributed to the right
one."""

from lib import case
from lib.stacks import Stacks

ROUNDS = 20


def check(this):
    libraries = [str(case.BUILD / "e2e" / "victims" / f"{name}.so") for name in ("unloaded_one", "unloaded_two")]
    trace = this.trace(this.victim("unloads"), ROUNDS, *libraries, options=["--stacks"])
    stacks = Stacks(trace)
    for library, name, size in zip(libraries, ("one_allocates", "two_allocates"), (5555, 6666), strict=True):
        rows = [row for row in trace.rows("alloc") if row["size"] == size and row["op"] == "malloc"]
        this.equal(f"blocks of {name}", len(rows), ROUNDS)
        for row in rows:
            this.equal("chain", stacks.functions(row["stack_id"])[:3], [name, "work", "main"])
            this.equal("library", stacks.by_id[row["stack_id"]][0].library, library)


if __name__ == "__main__":
    case.run(check)
