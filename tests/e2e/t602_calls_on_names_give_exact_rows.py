# SPDX-License-Identifier: Apache-2.0
"""stat and its relatives, mkdir, rename, unlink, rmdir, chdir: each row has the absolute path that was meant, whatever
it was relative to, and the second path of a rename."""

import shutil

from lib import case, exact

ROWS = [
    # func, path, second path, result, errno
    ("open", "", "", 0, None), ("chdir", "", "", 0, None), ("mkdir", "/a", "", 0, None),
    ("mkdirat", "/a/b", "", 0, None), ("creat", "/a/one", "", 0, None), ("close", "/a/one", "", 0, None),
    ("rename", "/a/one", "/a/two", 0, None), ("renameat", "/a/two", "/a/b/three", 0, None),
    ("renameat2", "/a/b/three", "/four", 0, None),
    ("stat", "/four", "", 0, None), ("lstat", "/four", "", 0, None), ("fstatat", "/four", "", 0, None),
    ("fstat", "", "", 0, None), ("statx", "/four", "", 0, None), ("stat", "/missing", "", -1, 2),
    ("openat", "/a/b", "", 0, None), ("fchdir", "/a/b", "", 0, None), ("unlink", "/four", "", 0, None),
    ("unlinkat", "/a/b", "", 0, None), ("fchdir", "", "", 0, None), ("rmdir", "/a", "", 0, None),
]


def check(this):
    top = this.path("names")

    def anew():
        shutil.rmtree(top, ignore_errors=True)
        top.mkdir()

    def columns(call):
        opened = call.func in ("open", "openat", "creat") and call.ret >= 0
        return (call.func, call.path.removeprefix(str(top)), (call.path2 or "").removeprefix(str(top)),
                0 if opened else call.ret, call.err)

    exact.expect_rows(this, "hooks_names", top, ROWS, columns, lambda call: call.path.startswith(str(top)), anew)
    exact.expect_strace_agrees(this, "hooks_names", top, anew)


if __name__ == "__main__":
    case.run(check)
