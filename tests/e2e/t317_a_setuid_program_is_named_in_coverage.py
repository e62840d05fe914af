# SPDX-License-Identifier: Apache-2.0
"""ld.so ignores our library in a setuid program: it runs as untraced, and coverage names it."""

import os
import shutil

from lib import case


def check(this):
    case.need_root()
    data = this.data_file()
    raised = this.path("raised")
    shutil.copy(this.victim("numbered"), raised)
    os.chown(raised, 65534, 65534)
    os.chmod(raised, 0o6755)
    this.folder.chmod(0o755)
    trace = this.untraced_and_traced("/bin/sh", "-c", '"$0" "$1" 10 exit; exit 3', raised, data)
    this.true("coverage names it", trace.covers("raised"), trace.rows("coverage"))


if __name__ == "__main__":
    case.run(check)
