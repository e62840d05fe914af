# SPDX-License-Identifier: Apache-2.0
"""readlink(b, b, n), stat into a union with the name, and realpath in place give the program the untraced result, and
the row has the name that was passed, also where the result ends with the last byte of a page."""

import os

from lib import case

FUNCS = ("readlink", "readlinkat", "stat", "lstat", "fstatat", "statx", "statfs", "realpath")


def check(this):
    folder = this.path("folder")
    folder.mkdir()
    (folder / "f").write_bytes(b"x")
    os.symlink("/nonexistent/" + "x" * 200, folder / "full")
    os.symlink("f", folder / "short")
    trace = this.untraced_and_traced(this.victim("written_over"), folder)
    rows = [(call.func, os.path.relpath(call.path, folder) if call.path else "") for call in trace.calls_of(*FUNCS)]
    this.equal("names", rows, [("readlink", "full"), ("readlinkat", "full"), ("readlink", "short"), ("readlink", "short"), ("stat", "f"),
                               ("lstat", "f"), ("fstatat", "f"), ("statx", "f"), ("statfs", "f"), ("realpath", "short"),
                               ("stat", "missing")])


if __name__ == "__main__":
    case.run(check)
