# SPDX-License-Identifier: Apache-2.0
"""A thread tries seccomp filters that do not exist, as libraries do that ask what the kernel has. Another thread that installs a filter meanwhile has
no system call of mlrun under it. Where two threads only tried, recording goes on as before: the program that is executed then is recorded."""

from lib import case, serials

CALLS, TRIES = 1000, 20000


def check(this):
    data, numbered = this.data_file(), this.victim("numbered")
    for options in ((), ("--place", "mmap size >= 1M -> node 0")):
        trace = this.untraced_and_traced(this.victim("tries_filters"), TRIES, data, numbered, data, CALLS, "exit", options=options)
        serials.expect_threads(this, trace.serials(data), [CALLS])


if __name__ == "__main__":
    case.run(check)
