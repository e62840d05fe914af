# SPDX-License-Identifier: Apache-2.0
"""stat and its relatives, mkdir, rename, unlink, rmdir, chdir: each row has the absolute path, whatever it was relative
to, and rename has the second path."""

import shutil

from lib import case, exact

ROWS = [
    # func, path, second path, result, errno
    ("open", "", "", 0, 0), ("chdir", "", "", 0, 0), ("mkdir", "/a", "", 0, 0),
    ("mkdirat", "/a/b", "", 0, 0), ("creat", "/a/one", "", 0, 0), ("close", "/a/one", "", 0, 0),
    ("rename", "/a/one", "/a/two", 0, 0), ("renameat", "/a/two", "/a/b/three", 0, 0),
    ("renameat2", "/a/b/three", "/four", 0, 0),
    ("stat", "/four", "", 0, 0), ("lstat", "/four", "", 0, 0), ("fstatat", "/four", "", 0, 0),
    ("fstat", "", "", 0, 0), ("statx", "/four", "", 0, 0), ("stat", "/missing", "", -1, 2),
    ("openat", "/a/b", "", 0, 0), ("fchdir", "/a/b", "", 0, 0), ("unlink", "/four", "", 0, 0),
    ("unlinkat", "/a/b", "", 0, 0), ("fchdir", "", "", 0, 0), ("rmdir", "/a", "", 0, 0),
]


def check(this):
    top = this.path("names")

    def cleared():
        shutil.rmtree(top, ignore_errors=True)
        top.mkdir()

    def columns(call):
        opened = call.func in ("open", "openat", "creat") and call.ret >= 0
        return (call.func, call.path.removeprefix(str(top)), (call.path2 or "").removeprefix(str(top)),
                0 if opened else call.ret, call.err)

    exact.expect_rows(this, "hooks_names", top, ROWS, columns, lambda call: call.path.startswith(str(top)), cleared)
    exact.expect_strace_agrees(this, "hooks_names", top, cleared)


if __name__ == "__main__":
    case.run(check)
