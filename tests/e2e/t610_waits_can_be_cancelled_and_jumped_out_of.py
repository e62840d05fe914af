# SPDX-License-Identifier: Apache-2.0
"""A thread cancelled in a wait ends as untraced, its lock released, and the wait is a row; a handler that jumps out of
a wait does no harm."""

from collections import Counter

from lib import case

CANCELLED = ("pthread_cond_wait", "pthread_cond_timedwait", "sem_wait", "sem_timedwait", "poll", "select", "epoll_wait",
             "nanosleep", "sleep", "sigtimedwait")


def check(this):
    trace = this.untraced_and_traced(this.victim("cancelled_waits"))
    cancelled = Counter(row.func for row in trace.calls if row.err == 125)
    this.equal("cancelled waits", {func: cancelled[func] for func in CANCELLED}, dict.fromkeys(CANCELLED, 1))
    this.equal("and in pause", cancelled["pause"], 2)
    this.equal("nothing was lost", trace.dropped(), 0)


if __name__ == "__main__":
    case.run(check)
