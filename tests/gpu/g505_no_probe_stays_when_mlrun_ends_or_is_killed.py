# SPDX-License-Identifier: Apache-2.0
"""When mlrun ends or is killed, the code of the process is as in its file, and the program that held the probes has
exited; the process continues."""

import os
import signal

import uprobe_case
from lib import case
from lib.killed_collector import wait_for

CODE = "ctypes.string_at(ctypes.cast(cuda.cuInit, c_void_p).value & ~4095, 4096)"


def check(this):
    uprobe_case.need_uprobes()
    with uprobe_case.victim(this) as one:
        code = one.do(CODE)
        for end in (signal.SIGTERM, signal.SIGKILL):
            seen = uprobe_case.Observation(this, "--pid", one.pid)
            this.true("there are probes", one.do(CODE) != code)
            holder = seen.holder()
            one.do("alloc(4096)")
            os.kill(seen.mlrun.pid, end)
            seen.mlrun.wait(120)
            wait_for(lambda: one.do(CODE) == code, 300)  # the kernel takes them out one after the other
            # Its exit removes all that it had loaded. A zombie has no `exe` any more.
            wait_for(lambda: not (holder / "exe").exists(), 300)
            this.true("it goes on", one.do("alloc(4096)") > 0)
    done = this.run(case.MLRUN, "recover", seen.out)
    this.equal("exit status of recover", done.returncode, 0, said=done.stderr)
    trace = uprobe_case.Trace(seen.out)
    this.equal("what was seen before the kill", [row[2] for row in uprobe_case.memory_rows(trace, one.pid)], [4096])


if __name__ == "__main__":
    case.run(check)
