# SPDX-License-Identifier: Apache-2.0
"""--lossless --alloc-min 0 in the smallest buffer: a handler at 20 kHz strikes anywhere, also where the thread waits for
room, and the calls of both are there once. The handler really strikes about that often: on a machine that is shared the
timer's signals come together where the program has to wait for a processor."""

from lib import case, issued

HZ, LEAST_SHARE, LEAST_STRIKES = 20_000, 0.1, 2000


def check(this):
    trace = issued.expect_lossless(this, "issues_handler", 150000, options=("--buffer", "4M"))
    strikes = len(trace.calls_of("lseek", path=this.data_file()))
    reads = trace.calls_of("pread", path=this.data_file())
    lasted_s = (reads[-1].end_ns - reads[0].ts_ns) / 1e9
    this.true("the handler struck about 20,000 times a second", strikes >= LEAST_STRIKES
              and HZ * LEAST_SHARE <= strikes / lasted_s <= HZ * 1.05, f"{strikes} times in {lasted_s:.2f} s")


if __name__ == "__main__":
    case.run(check)
