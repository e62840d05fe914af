# SPDX-License-Identifier: Apache-2.0
"""Under `ulimit -f` the program meets its own limit at its own byte, and mlrun's spool, larger than the limit, is
complete."""

import resource

from lib import case

LIMIT = 1 << 20
CALLS_AFTER = 200000  # 13 MB of records


def check(this):
    out = this.path("out.bin")
    trace = this.untraced_and_traced(
        this.victim("big_write"), out, after=lambda: out.stat().st_size,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT)))
    this.equal("size that the limit left", out.stat().st_size, LIMIT)
    this.equal("calls after it", len(trace.calls_of("pwrite", path=out)), CALLS_AFTER)
    failed = [call for call in trace.calls_of("write", path=out) if call.ret < 0]
    this.equal("the write that failed", [(call.ret, call.err) for call in failed], [(-1, 27)])


if __name__ == "__main__":
    case.run(check)
