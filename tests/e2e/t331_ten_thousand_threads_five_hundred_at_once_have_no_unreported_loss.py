# SPDX-License-Identifier: Apache-2.0
"""Ten thousand threads in total, five hundred at once: with --lossless the trace has every call and counted allocation
of each, without it the missing ones are counted."""

from lib import case, hook_table, issued

ROUNDS, THREADS, AT_ONCE = 5, 10000, 500


def run(this, *options):
    trace, reported = issued.run(this, "issues_threads", ROUNDS, THREADS, AT_ONCE, options=options)
    this.equal("what the program issued", reported.total(), 3 * ROUNDS * THREADS)
    return trace, reported.total() - sum((issued.recorded_calls(trace, this.data_file()) + issued.counted_allocations(trace)).values())


def check(this):
    whole, missing = run(this, "--lossless")
    this.equal("missing and counted as dropped, lossless", (missing, whole.dropped()), (0, 0))
    trace, missing = run(this)
    rows, wanted, drops = hook_table.rows_by_kind(trace), hook_table.rows_by_kind(whole), trace.dropped_by_kind()
    for kind in ("file call", "process call"):
        this.equal(f"rows and drops of {kind}s", rows[kind] + drops[kind], wanted[kind])
    # Small blocks are counted in the thread's channel: only a thread without one loses any, and the blocks that libc allocates for it.
    blocks = missing - (ROUNDS * THREADS - len(trace.calls_of("pread", path=this.data_file())))
    counted = drops["allocation"] + drops["free"]
    this.true("each block that is missing is counted", blocks <= counted <= blocks + 3 * THREADS, (blocks, counted))
    print(f"{dict(drops)} dropped")


if __name__ == "__main__":
    case.run(check)
