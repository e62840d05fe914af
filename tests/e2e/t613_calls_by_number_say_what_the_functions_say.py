# SPDX-License-Identifier: Apache-2.0
"""A working directory, or root, that was changed by number is known: later relative paths have their own names."""

import os

from lib import case


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


if __name__ == "__main__":
    case.run(check)
