# SPDX-License-Identifier: Apache-2.0
"""Each call made by name and by syscall() with the same arguments gives two rows with the same function, descriptor,
paths, numbers and result. A chdir by number is recorded."""

import os
import re

from lib import case, family


def said(row):
    path, path2 = (re.sub(r"\[\d+\]", "", each) for each in (row.path, row.path2))  # pipes and sockets are called by their inodes
    return (row.func, row.fd, path, path2, row.requested, row.flags, row.offset_source == "argument" and row.offset, row.arg2,
            row.ret, row.err, row.wanted_addr)


def check_pairs(this):
    folder = this.path("pairs")
    folder.mkdir()
    (folder / "in").write_bytes(bytes(range(250)) * 100)
    trace = this.trace(this.victim("by_number"), folder)
    rows = family.rows_between_marks(this, trace)
    made = [at for at, row in enumerate(rows) if row.via == "syscall"]
    this.true("calls by number", len(made) > 110, len(made))
    for at in made:
        # The call by name is just before; the call that undoes it may be in between, and have the same name.
        before = [said(row) for row in rows[max(at - 4, 0):at] if row.func == rows[at].func and row.via != "syscall"]
        this.true(f"{rows[at].func} by number as by name", said(rows[at]) in before, (said(rows[at]), before))


def check_directories(this):
    top = this.path("directories")
    for name in ("one", "two"):
        (top / name).mkdir(parents=True)
        (top / name / "f").write_text(name)
    trace = this.trace(this.victim("enters_by_number"), top)
    opened = [call.path for call in trace.calls_of("open") if call.path.endswith("/f")]
    wanted = [f"{top}/one/f", f"{top}/two/f", f"{top}/two/f"]
    this.equal("files opened", opened, wanted + ["/two/f"] if os.geteuid() == 0 else wanted)
    entered = [(call.func, call.path, call.via) for call in trace.calls_of("chdir", "fchdir", "chroot")]
    this.equal("folders entered", entered[1:4],
               [("chdir", f"{top}/one", "syscall"), ("fchdir", f"{top}/two", "syscall"), ("chdir", f"{top}/two/missing", "syscall")])


def check(this):
    check_directories(this)
    check_pairs(this)


if __name__ == "__main__":
    case.run(check)
