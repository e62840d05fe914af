# SPDX-License-Identifier: Apache-2.0
"""std::atomic::wait and std::condition_variable: the row of the wait has the thread that notified."""

from lib import case, posters


def check(this):
    trace = this.trace(this.victim("atomic_waits"))
    posters.expect(this, trace, trace.stdout)


if __name__ == "__main__":
    case.run(check)
