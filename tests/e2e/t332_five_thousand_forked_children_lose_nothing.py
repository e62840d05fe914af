# SPDX-License-Identifier: Apache-2.0
"""Five thousand forked children, fifty at once, every third killed by SIGKILL: the trace has every call of each, under
its own pid. Each child takes a segment of the buffer, and all together more than there are, so children may wait for
the collector."""

from lib import case, issued


def check(this):
    children = 5000
    trace, reported = issued.run(this, "issues_forks", 2, children, 3, options=["--lossless"])
    this.equal("dropped records", trace.dropped(), 0)
    recorded = issued.recorded_calls(trace, this.data_file()) + issued.counted_allocations(trace)
    issued.expect_exact(this, recorded, reported, killed=children // 3 + 1)
    this.true("processes", len(trace.rows("process")) > children)


if __name__ == "__main__":
    case.run(check)
