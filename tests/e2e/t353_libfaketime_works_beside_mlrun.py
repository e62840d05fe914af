# SPDX-License-Identifier: Apache-2.0
"""With libfaketime the program sees the faked time and the trace has the true one, whether libfaketime is preloaded for
the command alone or for mlrun too."""

import os
import sys
import time

from lib import case

LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
FAKED = {"LD_PRELOAD": LIBRARY, "FAKETIME": "@2001-02-03 04:05:06", "NO_FAKE_STAT": "1"}
SCRIPT = """
import sys, time
data = open(sys.argv[1], "rb", buffering=0)
import os
for number in range(3000): os.pread(data.fileno(), 1, number)
print(time.strftime("%Y-%m-%d", time.gmtime()), time.time() < 1e9)
"""


def expect_true_times(this, trace, before, after):
    calls = trace.calls_of("pread", path=this.data_file())
    this.equal("calls", [call.offset for call in calls], list(range(3000)))
    this.true("times are those of the system", before < calls[0].ts_ns and calls[-1].end_ns < after,
              (before, calls[0].ts_ns, calls[-1].end_ns, after))


def check(this):
    if not os.path.exists(LIBRARY):
        raise case.Skip("needs libfaketime")
    program = (sys.executable, "-S", "-c", SCRIPT, this.data_file())
    plain = this.run(*program, env=this.environment | FAKED)
    this.true("libfaketime works", plain.stdout.startswith("2001-02-03"), plain)
    by_env = [f"{name}={value}" for name, value in FAKED.items()]
    before = time.monotonic_ns()
    trace = this.trace("env", *by_env, *program)
    expect_true_times(this, trace, before, time.monotonic_ns())
    this.equal("output, preloaded for the command", trace.stdout, plain.stdout)
    before = time.monotonic_ns()
    trace = this.trace(*program, env=this.environment | FAKED)
    expect_true_times(this, trace, before, time.monotonic_ns())
    this.equal("output, preloaded for mlrun too", trace.stdout, plain.stdout)
    this.true("error of the clock", trace.run["clock"]["error_ns"] < 1_000_000, trace.run["clock"])


if __name__ == "__main__":
    case.run(check)
