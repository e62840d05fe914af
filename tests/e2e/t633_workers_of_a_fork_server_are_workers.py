# SPDX-License-Identifier: Apache-2.0
"""Processes forked by a fork server have its command line and are named by their role; the server and the resource
tracker have their own names."""

import sys

from lib import case

PROGRAM = """
import multiprocessing, sys
def read(path):
    with open(path, "rb") as data:
        return len(data.read())
if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    workers = [context.Process(target=read, args=(sys.argv[1],)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
"""


def check(this):
    data, program = this.data_file(), this.path("program.py")
    program.write_text(PROGRAM)
    trace = this.trace(sys.executable, program, data, options=["--lossless"])
    readers = {call.proc_id for call in trace.calls_of("read", path=data)}
    roles = {row["proc_id"]: row["role"] for row in trace.rows("process")}
    this.equal("roles of the readers", [roles[proc_id] for proc_id in readers], ["data worker"] * 2, said=roles)
    others = sorted(role for proc_id, role in roles.items() if proc_id not in readers)
    this.equal("the others", others, ["fork server", "main", "resource tracker"])


if __name__ == "__main__":
    case.run(check)
