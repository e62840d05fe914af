# SPDX-License-Identifier: Apache-2.0
"""Ten thousand threads over a life, five hundred of them at once: with --lossless every call and every counted allocation of
each is there, without it what is missing is counted."""

from lib import case, issued

ROUNDS, THREADS, AT_ONCE = 5, 10000, 500


def missing(this, *options):
    trace, told = issued.run(this, "issues_threads", ROUNDS, THREADS, AT_ONCE, options=options)
    this.equal("what the program issued", told.total(), 3 * ROUNDS * THREADS)
    recorded = issued.recorded_calls(trace, this.data_file()) + issued.counted_allocations(trace)
    return told.total() - sum(recorded.values()), trace.dropped()


def check(this):
    this.equal("missing and counted as dropped, lossless", missing(this, "--lossless"), (0, 0))
    lost, counted = missing(this)
    # What making a thread allocates is dropped too.
    this.true("each that is missing is counted", lost <= counted <= lost + 3 * THREADS, (lost, counted))


if __name__ == "__main__":
    case.run(check)
