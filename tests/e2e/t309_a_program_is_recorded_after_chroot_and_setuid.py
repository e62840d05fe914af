# SPDX-License-Identifier: Apache-2.0
"""After chroot and setuid to an unprivileged user, the trace has the calls of the program and of its child."""

import os

from lib import case

CALLS = 3000


def check(this):
    case.need_root()
    data, jail = this.data_file(), this.path("jail")
    jail.mkdir()
    os.link(data, jail / "data.bin")
    trace = this.untraced_and_traced(this.victim("nobody"), jail, CALLS)
    reads = [call for call in trace.calls_of("pread") if call.path.endswith("/data.bin")]
    this.equal("reads of parent and child", len(reads), CALLS + 2)
    this.equal("processes", len({call.pid for call in reads}), 2)


if __name__ == "__main__":
    case.run(check)
