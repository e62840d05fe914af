# SPDX-License-Identifier: Apache-2.0
"""A script puts jemalloc, tcmalloc or mimalloc in front of all else in LD_PRELOAD, by path or by name, and executes a program: it behaves as
untraced, each of its allocations is listed, and rules of placement place its blocks."""

from pathlib import Path

from lib import allocators, case

SCRIPT = 'export LD_PRELOAD="$1${LD_PRELOAD:+:$LD_PRELOAD}"; shift; exec "$@"'


def expect_recorded(this, name, library):
    command = ("sh", "-c", SCRIPT, "sh", library, this.victim("allocates"), allocators.ROUNDS)
    trace = this.untraced_and_traced(*command, options=("--lossless", "--alloc-min", "0"))
    wanted = {key: allocators.ROUNDS * allocators.THREADS for key in allocators.ISSUED}
    this.equal(f"{library}: allocations listed", dict(allocators.listed(trace)), wanted)
    used = {image["allocator"] for image in trace.rows("image")}
    this.true(f"{name} is named", any(name in (path or "") for path in used), used)
    this.equal("rows of coverage about it", trace.covers("allocator"), [])


def expect_placed(this, library):
    command = ("sh", "-c", SCRIPT, "sh", library, this.victim("places_storm"), 400, 3)
    trace = this.untraced_and_traced(*command, options=("--place", "size >= 64K -> default"))
    placement = trace.run["placement"]
    matches = [process["rules"][0]["matches"] for process in placement["processes"]]
    this.true(f"{library}: blocks were placed", max(matches, default=0) > 50, placement)
    this.equal("programs without rules about blocks", placement["without_block_rules"], 0)


def check(this):
    for name, program in allocators.victims(this, "shared"):
        library = allocators.library_of(this, name, program)
        expect_recorded(this, name, library)
        expect_recorded(this, name, Path(library).name)
        expect_placed(this, library)


if __name__ == "__main__":
    case.run(check)
