# SPDX-License-Identifier: Apache-2.0
"""Six hundred threads start to record at once, faster than the collector allocates the buffer; nothing is dropped while
the buffer has room. A buffer that is too small drops calls, and the summary names the remedy."""

from lib import case
from lib.trace import Trace

THREADS, ROUNDS, READS = 600, 3, 20
ISSUED = THREADS * ROUNDS * READS


def check(this):
    program = (this.victim("thread_burst"), this.data_file(), THREADS, ROUNDS)
    trace = this.trace(*program, options=["--preload=files"])
    this.equal("dropped records", trace.dropped(), 0)
    this.equal("reads", len(trace.calls_of("pread", path=this.data_file())), ISSUED)
    out = this.new_trace()
    done = this.run(case.MLRUN, "--preload=files", "--buffer", "4M", "-o", out, "--", *program)
    this.equal("exit status with a small buffer", done.returncode, 0, said=done.stderr)
    small = Trace(out)
    reads = len(small.calls_of("pread", path=this.data_file()))
    this.true("reads and drops are what was issued", reads + small.dropped() >= ISSUED, (reads, small.dropped()))
    this.true("some were dropped", small.dropped() > 0)
    this.true("the summary names what would help", "--lossless" in done.stderr and "--buffer" in done.stderr, done.stderr)


if __name__ == "__main__":
    case.run(check)
