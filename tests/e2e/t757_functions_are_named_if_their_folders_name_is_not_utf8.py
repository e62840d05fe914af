# SPDX-License-Identifier: Apache-2.0
"""Tables show a path as UTF-8: other bytes, and a backslash before an x, are escaped. The program is still found by its bytes, and its functions are named."""

import os
import shutil

from lib import case
from lib.stacks import Stacks


def check(this):
    data = this.data_file()
    for folder, shown in ((b"ordinary", "ordinary"), (b"\xff\xfe", r"\xff\xfe"), (rb"\x41", r"\x5cx41"), ("größe".encode(), "größe")):
        program = this.path(os.fsdecode(folder)) / "program"
        program.parent.mkdir()
        shutil.copy(this.victim("named"), program)
        trace = this.trace(program, data, options=("--stacks",))
        row = next(row for row in trace.rows("alloc") if row["size"] == 70000)
        frame = Stacks(trace).by_id[row["stack_id"]][0]
        this.true(f"{shown}: the function has a name", frame.function, frame)
        this.equal(f"{shown}: the library", frame.library, f"{this.folder}/{shown}/program")


if __name__ == "__main__":
    case.run(check)
