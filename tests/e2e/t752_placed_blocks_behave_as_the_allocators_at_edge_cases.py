# SPDX-License-Identifier: Apache-2.0
"""A placed block that is resized to 0 bytes ends as the program's allocator does it (libc, jemalloc, tcmalloc, mimalloc); it becomes smaller
where no memory is left for another one; calloc is zero whatever was there; a block that grows leaves alone what the program has mapped; handlers of exit and destructors
allocate; and threads together stay within a budget. Rules that no block fits take next to none of the address space, which a program may have limited."""

from lib import allocators, case

BUDGET = 4 << 20
SIZE = "import os; print(int(open('/proc/self/statm').read().split()[0]) * os.sysconf('SC_PAGE_SIZE'))"


def check(this):
    program = this.victim("places_edges")
    for options in (("--place", "-> default"), ("--preload=off", "--place", "-> default")):
        for names in (("zero", "beside", "clean", "guards", "ends"), ("shrink",)):
            trace = this.untraced_and_traced(program, *names, options=options)
            placed = trace.run["placement"]["processes"]
            this.true(f"{names}: blocks were placed", placed and placed[0]["rules"][0]["matches"] > 0, trace.run["placement"])
    trace = this.untraced_and_traced(this.victim("places"), "nothing", options=("--preload=off", "--place", "-> default"))
    rule = trace.run["placement"]["processes"][0]["rules"][0]
    if "malloc(64 TiB) 0" in this.run(this.victim("places"), "nothing").stdout:  # else the kernel promises any memory
        this.true("what no allocator can give is not counted", rule["fallbacks"] == 0 and rule["bytes"] < 100 << 20, rule)
    small = this.trace(program, "zero", options=("--preload=off", "--place", "size < 32K -> default")).run["placement"]["processes"][0]["rules"][0]
    this.true("a rule with an upper limit alone has blocks of all sizes below it", 0 < small["matches"] and small["bytes"] < small["matches"] * (32 << 10), small)
    sizes = [int(this.trace("/usr/bin/python3", "-c", SIZE, options=("--preload=off", *("--place", "size >= 1G -> default") * rules)).stdout) for rules in (1, 64)]
    this.true("address space of 63 rules more", sizes[1] - sizes[0] < 8 << 20, sizes)
    for name, linked in allocators.victims(this, "shared"):
        this.environment["LD_PRELOAD"] = allocators.library_of(this, name, linked)
        this.untraced_and_traced(program, "zero", "ends", options=("--preload=off", "--place", "-> default"))
        this.untraced_and_traced(this.victim("places"), "foreign", "forks", options=("--place", "-> default"))
    del this.environment["LD_PRELOAD"]
    out = this.new_trace()
    done = this.run(*this.command(this.victim("places_storm"), 500, 8, out=out, options=("--preload=off", "--place", "size >= 4K -> default budget 4M")))
    this.equal("it says", done.stdout, "bad=0 misaligned=0\n", said=done.stderr)
    (process,) = this.opened(out).run["placement"]["processes"]
    (rule,) = process["rules"]
    this.true("the budget holds, and is used", BUDGET // 2 < rule["peak_bytes"] <= BUDGET and rule["fallbacks"] > 0, rule)


if __name__ == "__main__":
    case.run(check)
