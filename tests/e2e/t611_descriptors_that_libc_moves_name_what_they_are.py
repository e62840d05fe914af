# SPDX-License-Identifier: Apache-2.0
"""login_tty, forkpty and daemon change descriptors and the working directory inside libc: later reads and writes have
the right names."""

from lib import case


def check(this):
    data = this.data_file()
    trace = this.trace(this.victim("terminals"), data, options=["--wait-all"])
    on_stdin = [(row.func, row.path.rsplit("/", 1)[0] if "/pts/" in row.path else row.path, row.ret)
                for row in trace.calls if row.fd == 0 and row.func in ("read", "write")]
    this.equal("calls on descriptor 0", on_stdin, [("read", data, 1), ("write", "/dev/pts", 2), ("write", "/dev/pts", 3),
                                                   ("read", data, 4), ("read", "/dev/null", 0)])
    folders = [row.path for row in trace.calls if row.func == "open" and row.path.endswith("/tmp")]
    this.equal("the daemon's working directory", folders, ["/tmp"])
    makers = {row.func for row in trace.calls} & {"openpty", "forkpty", "daemon"}
    this.equal("rows", makers, {"openpty", "forkpty", "daemon"})


if __name__ == "__main__":
    case.run(check)
