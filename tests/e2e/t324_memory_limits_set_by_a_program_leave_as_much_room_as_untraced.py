# SPDX-License-Identifier: Apache-2.0
"""A program that calls mlockall under a limit, and one that limits its address space or data while it runs, have as
much room as untraced; their later calls are recorded."""

from lib import case

CALLS = 3000
PYTHON = "/usr/bin/python3"
# Root has no limit: everything is locked, but the buffer must not be.
LOCKS = """
import ctypes, sys
print(ctypes.CDLL(None).mlockall(3))
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
later = bytearray(3 << 20)
print(int(status["VmLck"].split()[0]) // 1024, file=sys.stderr)
"""


def check(this):
    data = this.data_file()
    this.folder.chmod(0o755)
    trace = this.untraced_and_traced(this.victim("memory_limits"), data, CALLS)
    found = sorted(trace.serials(data).values(), key=len)
    this.equal("recording threads", len(found), 2)
    this.equal("calls of the child", len(found[0]), CALLS)
    this.equal("calls of the parent", len(found[1]), 3 * CALLS)
    locks = (PYTHON, "-c", LOCKS)
    plain, traced = this.run(*locks), this.run(*this.command(*locks, out=this.new_trace()))
    this.equal("result of mlockall", (traced.returncode, traced.stdout), (plain.returncode, plain.stdout), said=traced.stderr)
    locked = [int(run.stderr) for run in (plain, traced)]
    this.true("MiB locked", abs(locked[0] - locked[1]) <= 2, locked)
    shell = "ulimit -v 120000; for i in 1 2 3; do x=$x$(seq 2000); done; echo ${#x}; (ulimit -v 60000; seq 5 | sort -n)"
    this.untraced_and_traced("bash", "-c", shell)
    this.untraced_and_traced("bash", "-c", "ulimit -d 8000; x=$(seq 20000); echo ${#x}; (ulimit -d 4000; seq 5 | sort -n)")


if __name__ == "__main__":
    case.run(check)
