# SPDX-License-Identifier: Apache-2.0
"""read, write, their vector and positioned forms, lseek, fsync, ftruncate, open and close once each: every field of
every row is right, with a derived position where the call has none."""

from lib import case, exact

ROWS = [
    # func, offset, its source, requested, result, errno
    ("open", None, "none", None, "fd", 0),
    ("write", 0, "derived", 10, 10, 0),
    ("pwrite", 30, "argument", 2, 2, 0),
    ("writev", 10, "derived", 7, 7, 0),
    ("pwritev", 40, "argument", 7, 7, 0),
    ("pwritev2", 50, "argument", 7, 7, 0),
    ("lseek", None, "none", None, 52, 0),
    ("read", 52, "derived", 4, 4, 0),
    ("read", 56, "derived", 90, 1, 0),
    ("pread", 20, "argument", 6, 6, 0),
    ("lseek", 1, "argument", None, 1, 0),
    ("readv", 1, "derived", 5, 5, 0),
    ("preadv", 25, "argument", 5, 5, 0),
    ("preadv2", 35, "argument", 5, 5, 0),
    ("read", 6, "derived", 1, 1, 0),
    ("fsync", None, "none", None, 0, 0),
    ("fdatasync", None, "none", None, 0, 0),
    ("ftruncate", None, "none", None, 0, 0),
    ("close", None, "none", None, 0, 0),
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
