# SPDX-License-Identifier: Apache-2.0
"""connect and accept have the socket at the other end in file2_id, within a process and between processes, by TCP, IPv6 and
AF_UNIX, also where connect does not block; the file has the other end's address. A connection without an accept has neither."""

import errno

from lib import case


def check(this):
    folder = this.path("sockets")
    folder.mkdir()
    trace = this.trace(this.victim("connects"), folder)
    files = {row["file_id"]: row for row in trace.rows("file")}
    rows = {}
    for row in trace.rows("call"):
        if row["func"] in ("connect", "accept", "accept4") and row["file_id"]:
            rows[row["func"], files[row["file_id"]]["ino"]] = row
    lines = [line.split() for line in trace.stdout.splitlines() if line.startswith(("connect", "accept"))]
    this.true("connections", len(lines) >= 24, trace.stdout)
    for func, fd, own, other, address in lines:
        row = rows[func, int(own)]
        end = files.get(row["file2_id"], {})
        this.equal(f"{func} {own} to {address}", (row["fd"], end.get("ino"), files[row["file_id"]]["address"]),
                   (int(fd), int(other), address))
        if func != "connect" and ("connect", int(other)) in rows:
            back = files.get(rows["connect", int(other)]["file2_id"], {})
            this.equal("the way back", back.get("ino"), int(own))
    [refused] = [row for row in rows.values() if row["err"] == errno.ECONNREFUSED]
    this.equal("a connection that was refused", (refused["file2_id"], files[refused["file_id"]]["address"]), (None, None))


if __name__ == "__main__":
    case.run(check)
