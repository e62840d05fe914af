# SPDX-License-Identifier: Apache-2.0
"""Under `ulimit -S -f` the program meets its own limit at its own byte, and mlrun's spool, larger than the limit, is
complete. Under a hard limit that mlrun may not raise the program runs untraced, and mlrun says so in one line."""

import resource

from lib import case

LIMIT = 1 << 20
CALLS_AFTER = 200000  # 13 MB of records


def limited(hard):
    return {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))}


def check(this):
    out = this.path("out.bin")
    program = (this.victim("big_write"), out)
    trace = this.untraced_and_traced(*program, after=lambda: out.stat().st_size, **limited(resource.RLIM_INFINITY))
    this.equal("size that the limit left", out.stat().st_size, LIMIT)
    this.equal("calls after it", len(trace.calls_of("pwrite", path=out)), CALLS_AFTER)
    failed = [call for call in trace.calls_of("write", path=out) if call.ret < 0]
    this.equal("the write that failed", [(call.ret, call.err) for call in failed], [(-1, 27)])

    plain = this.run(*program, **limited(LIMIT))
    hard = this.run(*this.command(*program, out=this.new_trace()), **limited(LIMIT))
    this.equal("output under a hard limit", (hard.returncode, hard.stdout), (plain.returncode, plain.stdout))
    said = hard.stderr.splitlines()
    reported = len(said) == 1 and "without recording" in said[0]
    this.true("recorded, or one line that says it is not", reported or not said, hard.stderr)


if __name__ == "__main__":
    case.run(check)
