# SPDX-License-Identifier: Apache-2.0
"""When a thread other than the first executes a program, the kernel makes it the process's first, and the kernel side
continues to record it."""

from lib import case
from lib.kernel_side import need_kernel_side

SLEEP_S = 0.4
EXECUTE = f"""
import os, threading
threading.Thread(target=os.execv, args=("/bin/sleep", ["sleep", "{SLEEP_S}"])).start()
threading.Event().wait()
"""


def check(this):
    need_kernel_side()
    trace = this.trace("/usr/bin/python3", "-c", EXECUTE, options=["--kprobes=block,wait"])
    command = min(trace.rows("process"), key=lambda row: row["proc_id"])
    long = [row for row in trace.rows("wait") if row["pid"] == command["pid"] and row["dur"] >= SLEEP_S * 1e9]
    this.true("the sleep of the program is a wait of the same process", long, trace.rows("process"))


if __name__ == "__main__":
    case.run(check)
