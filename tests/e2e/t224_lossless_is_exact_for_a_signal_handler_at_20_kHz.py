# SPDX-License-Identifier: Apache-2.0
"""With --lossless --alloc-min 0 in the smallest buffer, a handler at 20 kHz interrupts any code, including the wait for
room, and the trace has the calls of both once. The handler runs about that often while the program has a processor;
while the program waits for one, the timer's signals are merged."""

from lib import case, issued

# In processor time, however busy the machine is; a fast processor leaves fewer strikes.
HZ, LEAST_SHARE, LEAST_STRIKES = 20_000, 0.1, 500


def check(this):
    trace = issued.expect_lossless(this, "issues_handler", 150000, options=("--buffer", "4M"))
    strikes = len(trace.calls_of("lseek", path=this.data_file()))
    reads = trace.calls_of("pread", path=this.data_file())
    lasted_s = (reads[-1].end_ns - reads[0].ts_ns) / 1e9
    ran_s = (trace.run["user_ns"] + trace.run["sys_ns"]) / 1e9
    often = strikes >= LEAST_STRIKES and strikes >= HZ * LEAST_SHARE * ran_s and strikes <= HZ * 1.05 * lasted_s
    this.true("the handler struck about 20,000 times a second", often, f"{strikes} times in {lasted_s:.2f} s, {ran_s:.2f} s of them on a processor")


if __name__ == "__main__":
    case.run(check)
