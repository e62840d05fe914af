# SPDX-License-Identifier: Apache-2.0
"""Where the kernel does not trust the time stamp counter, mlrun uses CLOCK_MONOTONIC: the trace has every call, in
order, within the run time. Where the counter is trusted, a program in a time namespace sees another CLOCK_MONOTONIC,
and its calls are still within the run."""

import time

from lib import case, serials
from lib.trace import Trace

CALLS = 20000
SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"


def expect_within(this, trace, before, after):
    serials.expect_threads(this, trace.serials(this.data_file()), [CALLS])
    calls = trace.calls_of("pread", path=this.data_file())
    this.equal("order by time is the program's", [call.offset for call in calls], list(range(CALLS)))
    this.true("within the run", before < calls[0].ts_ns and calls[-1].end_ns < after)


def without_the_counter(this, program):
    fake, out = this.path("hpet"), this.new_trace()
    fake.write_text("hpet\n")
    before = time.monotonic_ns()
    done = this.run("unshare", "-m", "/bin/sh", "-c", f'mount --bind "$1" {SOURCE} && shift && exec "$@"', "sh", fake,
                    *this.command(*program, out=out))
    after = time.monotonic_ns()
    this.equal("exit status", done.returncode, 7, said=done.stderr)
    trace = Trace(out)
    this.equal("clock", trace.run["clock"]["kind"], "monotonic")
    this.true("the reason is recorded", "hpet" in trace.run["clock"]["reason"], trace.run["clock"])
    expect_within(this, trace, before, after)


def in_a_time_namespace(this, program):
    before = time.monotonic_ns()
    trace = this.trace("unshare", "-T", "--monotonic", 100000, *program, status=7)
    after = time.monotonic_ns()
    if trace.run["clock"]["kind"] == "tsc":
        expect_within(this, trace, before, after)


def check(this):
    case.need_mounts()
    program = (this.victim("numbered"), this.data_file(), CALLS, "exit")
    without_the_counter(this, program)
    case.need_command("unshare", "-T", "--monotonic", "100000", "true")
    in_a_time_namespace(this, program)


if __name__ == "__main__":
    case.run(check)
