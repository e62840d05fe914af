# SPDX-License-Identifier: Apache-2.0
"""--summary-only: millions of calls use no more disk than a few calls, during the run and at the end."""

import subprocess
import time

from lib import case, sums

ISSUED = 3_000_000
BYTES_MAX = 1 << 20
# Blocks are allocated ahead of the spool.
AHEAD = 18 << 20


def check(this):
    data, out = this.data_file(), this.new_trace()
    command = this.command(this.victim("numbered"), data, ISSUED, "exit", out=out,
                           options=["--lossless", "--summary-only", "--keep-raw"])
    size = blocks = 0
    with subprocess.Popen(command, env=this.environment, cwd=this.folder) as mlrun:
        while mlrun.poll() is None:
            try:
                raw = [path.stat() for path in out.glob("*.bin*")]
            except FileNotFoundError:  # replaced in between
                continue
            size = max(size, sum(status.st_size for status in raw))
            blocks = max(blocks, sum(status.st_blocks * 512 for status in raw))
            time.sleep(0.02)
    this.equal("exit status", mlrun.returncode, 7)
    size = max(size, sum(path.stat().st_size for path in out.glob("*.bin")))
    this.true("bytes of the raw files", size <= BYTES_MAX, size)
    this.true("room taken on disk", blocks <= BYTES_MAX + AHEAD, blocks)
    trace = case.Trace(out)
    this.equal("numbered calls", sums.calls_of(trace, "pread", data), ISSUED)
    this.equal("records taken", trace.run["collector"]["added_up"] >= ISSUED, True)
    this.equal("losses and gaps", trace.rows("loss") + trace.rows("coverage"), [])
    again = this.run(case.MLRUN, "recover", out, "--quiet")
    this.equal("exit status of another merge", again.returncode, 0, said=again.stderr)
    this.equal("numbered calls, merged again", sums.calls_of(case.Trace(out), "pread", data), ISSUED)


if __name__ == "__main__":
    case.run(check)
