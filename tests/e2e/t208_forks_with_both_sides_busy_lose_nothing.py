# SPDX-License-Identifier: Apache-2.0
"""A child forked while calls are in progress, and its own child, both killed by SIGKILL, record beside their parent;
each has its own calls."""

from lib import case, serials

CALLS = 20000


def check(this):
    data = this.data_file()
    trace = this.trace(this.victim("fork_busy"), data, CALLS)
    serials.expect_threads(this, trace.serials(data), [CALLS] * 3)
    this.equal("dropped records", trace.dropped(), 0)


if __name__ == "__main__":
    case.run(check)
