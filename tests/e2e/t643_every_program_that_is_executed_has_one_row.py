# SPDX-License-Identifier: Apache-2.0
"""Programs executed by relative paths, relative to a folder's descriptor, through PATH and by a descriptor, in children
of vfork and of fork, have a row each with the program's path. A failed exec has one row with the error."""

import errno
import shutil
from collections import Counter

from lib import case

WORKS, FAILS = 6, ((errno.EACCES, "text", 2), (errno.ENOENT, "none", 2))  # rows: of vfork children as of forked ones; failures: of these alone


def check(this):
    folder = this.path("w")
    (folder / "below").mkdir(parents=True)
    shutil.copy("/bin/true", folder / "program")
    (folder / "text").write_text("no program\n")
    trace = this.trace(this.victim("executes"), folder)
    rows = trace.calls_of("execve")
    of_vfork = Counter(row.path for row in rows if row.ret > 0)
    of_fork = Counter(row.path for row in rows if row.ret == 0 and row.err == 0)
    this.equal("executed by vfork children", of_vfork, {f"{folder}/program": WORKS})
    this.equal("executed by forked children", of_fork - Counter([this.victim("executes")]), {f"{folder}/program": WORKS})
    for error, name, times in FAILS:
        found = [row for row in rows if row.err == error and row.path == f"{folder}/{name}"]
        this.equal(f"rows of {name}", len(found), times)


if __name__ == "__main__":
    case.run(check)
