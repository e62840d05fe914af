# SPDX-License-Identifier: Apache-2.0
"""read, write, their vector and positioned forms, lseek, fsync, ftruncate, open and close once each: every field of
every row, with the position worked out where the call does not name it."""

from lib import case, exact

EOF, BAD = 0, -1
ROWS = [
    # func, offset, its source, requested, result, errno
    ("open", None, "none", None, "fd", None),
    ("write", 0, "derived", 10, 10, None),
    ("pwrite", 30, "argument", 2, 2, None),
    ("writev", 10, "derived", 7, 7, None),
    ("pwritev", 40, "argument", 7, 7, None),
    ("pwritev2", 50, "argument", 7, 7, None),
    ("lseek", None, "none", None, 52, None),
    ("read", 52, "derived", 4, 4, None),
    ("read", 56, "derived", 90, 1, None),
    ("pread", 20, "argument", 6, 6, None),
    ("lseek", None, "none", None, 1, None),
    ("readv", 1, "derived", 5, 5, None),
    ("preadv", 25, "argument", 5, 5, None),
    ("preadv2", 35, "argument", 5, 5, None),
    ("read", 6, "derived", 1, 1, None),
    ("fsync", None, "none", None, 0, None),
    ("fdatasync", None, "none", None, 0, None),
    ("ftruncate", None, "none", None, 0, None),
    ("close", None, "none", None, 0, None),
]


def columns(call):
    ret = "fd" if call.func == "open" and call.ret == call.fd else call.ret
    return call.func, call.offset, call.offset_source, call.requested, ret, call.err


def check(this):
    made = this.path("made.bin")
    exact.expect_rows(this, "hooks_data", made, ROWS, columns, keep=lambda call: call.path == str(made))
    exact.expect_strace_agrees(this, "hooks_data", made)


if __name__ == "__main__":
    case.run(check)
