# SPDX-License-Identifier: Apache-2.0
"""A program executed as another user may not write into this user's buffer: it runs as untraced, and coverage names
it."""

from lib import case


def check(this):
    case.need_root()
    command = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/bin/cat", "/etc/hostname")
    trace = this.untraced_and_traced("/bin/sh", "-c", '"$@"; exit 3', "sh", *command)
    this.true("coverage names it", trace.covers("/bin/cat"), trace.rows("coverage"))
    this.equal("reads of it", trace.calls_of("read", path="/etc/hostname"), [])


if __name__ == "__main__":
    case.run(check)
