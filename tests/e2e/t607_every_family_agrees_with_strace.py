# SPDX-License-Identifier: Apache-2.0
"""Names and attributes, copies between descriptors, sockets, special descriptors and calls by number: the rows of each
family are the system calls that strace sees, in order, with results and bytes."""

from lib import case, family

CHANNELS = {"eventfd": "eventfd", "timerfd_create": "timerfd", "signalfd": "signalfd", "inotify_init1": "inotify",
            "memfd_create": "memfd", "epoll_create1": "epoll", "epoll_create": "epoll", "socket": "socket", "shm_open": "shm"}


def check_family(this, name, *arguments):
    trace, log = family.run_beside_strace(this, this.victim(f"family_{name}"), *arguments)
    rows = family.rows_between_marks(this, trace)
    family.expect_same_sequence(this, rows, family.syscalls_between_marks(this, log, rows[0].pid))
    return trace, rows


def check_names(this):
    folder = this.path("folder")
    folder.mkdir()
    _, rows = check_family(this, "names", folder)
    links = [(row.path.rsplit("/", 1)[1], row.path2.rsplit("/", 1)[1]) for row in rows if row.func in ("link", "linkat")]
    this.equal("links", links, [("one", "two"), ("one", "three"), ("none", "four")])
    this.equal("the chosen name", [row.path[:len(str(folder)) + 6] for row in rows if row.func == "mkdtemp"],
               [f"{folder}/made_"])


def check_moves(this):
    data, out = this.data_file(), this.path("moved.bin")
    _, rows = check_family(this, "moves", data, out)
    copies = [(row.func, row.path == data, row.path2 == str(out), row.offset, row.offset_source, row.ret) for row in rows
              if row.func in ("sendfile", "copy_file_range") and row.err == 0]
    this.equal("copies", copies, [("sendfile", True, True, 0, "derived", 300), ("sendfile", True, True, 100, "argument", 50),
                                  ("copy_file_range", True, True, 300, "derived", 1000),
                                  ("copy_file_range", True, True, 150, "argument", 70)])
    after = [(row.func, row.offset, row.offset_source) for row in rows if row.func in ("read", "write")]
    this.equal("positions after the copies", after, [("read", 1300, "derived"), ("write", 1350, "derived")])


def check_sockets(this):
    data = this.data_file()
    trace, rows = check_family(this, "sockets", data)
    kinds = {row["path"]: row["kind"] for row in trace.rows("file")}
    this.equal("kinds", {row.func: kinds[row.path] for row in rows if row.func in CHANNELS}, CHANNELS)
    this.equal("each eventfd has its own file row", [row["kind"] for row in trace.rows("file")].count("eventfd"), 2)
    this.equal("the descriptor in the message", [row.path for row in rows if row.func == "pread"], [data])
    ends = [row.path for row in rows if row.func in ("send", "recv") and row.ret == 5]
    this.true("both ends of the pair", len(set(ends)) == 2 and all(end.startswith("socket:[") for end in ends), ends)


def check_raw(this):
    data, out = this.data_file(), this.path("raw.bin")
    _, rows = check_family(this, "raw", data, out)
    hooked = [(row.func, row.via) for row in rows if row.via == "function"]
    this.equal("calls by name", hooked, [("open", "function"), ("read", "function"), ("read", "function"),
                                         ("open", "function"), ("read", "function"), ("close", "function")])
    again = [(row.path, row.ret) for row in rows[-8:] if row.func == "read"]
    this.equal("a number that syscall() closed and opened", again, [(data, 4), (str(out), 5), (data, 6)])


def check(this):
    check_names(this)
    check_moves(this)
    check_sockets(this)
    check_raw(this)


if __name__ == "__main__":
    case.run(check)
