# SPDX-License-Identifier: Apache-2.0
"""poll and ppoll of one descriptor have it, of several none; socketpair has the files of both ends; epoll_ctl the epoll, the
descriptor that it is about and the operation: by fstat and the program's own numbers."""

import errno

from lib import case

ADD, DELETE, MODIFY = 1, 2, 3


def check(this):
    folder = this.path("sockets")
    folder.mkdir()
    trace = this.trace(this.victim("connects"), folder)
    lines = [line.split() for line in trace.stdout.splitlines()]
    inodes = {row["file_id"]: row["ino"] for row in trace.rows("file")}
    rows = [row for row in sorted(trace.rows("call"), key=lambda row: row["ts"])]
    [[_, first, own, other, _]] = [line for line in lines if line[0] == "socketpair"]
    [[_, set_fd, set_inode, _, second]] = [line for line in lines if line[0] == "set"]
    [pair] = [row for row in rows if row["func"] == "socketpair"]
    this.equal("socketpair", (pair["fd"], inodes[pair["file_id"]], inodes[pair["file2_id"]], pair["arg2"]),
               (int(first), int(own), int(other), int(second)))
    polls = [(row["func"], row["fd"], inodes.get(row["file_id"]), row["flags"]) for row in rows if row["func"] in ("poll", "ppoll")]
    this.equal("polls", polls, [("poll", int(first), int(own), 1), ("ppoll", int(second), int(other), 1),
                                ("poll", None, None, 2), ("poll", None, None, 1)])
    control = [(row["fd"], inodes[row["file_id"]], row["arg2"], row["flags"], row["err"]) for row in rows if row["func"] == "epoll_ctl"]
    of_set = (int(set_fd), int(set_inode), int(first))
    this.equal("epoll_ctl", control, [(*of_set, ADD, 0), (*of_set, MODIFY, 0), (*of_set, DELETE, 0), (*of_set, DELETE, errno.ENOENT)])


if __name__ == "__main__":
    case.run(check)
