# SPDX-License-Identifier: Apache-2.0
"""A process that sets up Linux's aio after its last record is still inspected."""

from lib import case


def check(this):
    if this.run(this.victim("unrecorded"), "aio", 0, 0).returncode == 77:
        raise case.Skip("this kernel has no aio")
    trace = this.trace(this.victim("unrecorded"), "aio", 0, 500)
    this.equal("coverage", [row["subject"] for row in trace.rows("coverage")], ["operations submitted to Linux's aio"])


if __name__ == "__main__":
    case.run(check)
