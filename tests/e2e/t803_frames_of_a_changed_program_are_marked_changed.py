# SPDX-License-Identifier: Apache-2.0
"""When a program was replaced or removed between the run and the merge, its frames keep library and offset and are marked
changed."""

import shutil

from lib import case
from lib.stacks import Stacks
from lib.trace import Trace


def check(this):
    data, program = this.data_file(), this.path("program")
    for replacement, state in ((this.victim("unloads"), "file changed"), (None, "no file")):
        shutil.copy(this.victim("named"), program)
        out = this.new_trace()
        done = this.run(*this.command(program, data, out=out, options=["--stacks", "--defer-merge"]))
        this.equal("exit status", done.returncode, 0, said=done.stderr)
        program.unlink()
        if replacement:
            shutil.copy(replacement, program)
        this.equal("recover", this.run(case.MLRUN, "recover", "--quiet", out).returncode, 0)
        trace = Trace(out)
        row = next(row for row in trace.rows("alloc") if row["size"] == 70000)
        frame = Stacks(trace).by_id[row["stack_id"]][0]
        this.equal("state", frame.state, state)
        this.equal("function", frame.function, None)
        this.equal("library", frame.library, str(program))
        program.unlink(missing_ok=True)


if __name__ == "__main__":
    case.run(check)
