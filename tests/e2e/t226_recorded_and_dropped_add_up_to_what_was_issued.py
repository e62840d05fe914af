# SPDX-License-Identifier: Apache-2.0
"""Without --lossless, in the smallest buffer and with a collector that is stopped for a while: rows and counted drops add
up to the rows of a lossless run of the same program, for one thread, dying threads and forked children."""

import os
import signal
import subprocess
import time

from lib import case, issued
from lib.trace import Trace

# Behind each: by how much more may be counted as dropped than rows are missing, since records about processes, files and waits
# are dropped too, and by how much the number of rows varies from run to run (what libc allocates for threads).
VICTIMS = ((("issues_ends", 60000, "_exit"), 3, 0), (("issues_ends", 60000, "abort"), 3, 0),
           (("issues_forks", 400, 200, 0), 3 * 200, 0), (("issues_threads", 400, 300, 40), 3 * 300, 2 * 300))
ALL = ("--alloc-min", "0")


WAITS = ("pthread_join", "wait", "waitpid", "wait4", "nanosleep", "clock_nanosleep", "usleep")  # rows only where they took their time, so not in every run


def rows(trace):
    waits = sum(len(trace.calls_of(func)) for func in WAITS)
    return trace.table("call").num_rows - waits + trace.table("alloc").num_rows


def dropping(this, *command):
    """A trace of the command whose collector stood still while the buffer filled up."""
    out = this.new_trace()
    whole = this.command(*command, out=out, options=("--buffer", "4M", *ALL))
    with subprocess.Popen(whole, env=this.environment, cwd=this.folder, stderr=subprocess.PIPE) as mlrun:
        time.sleep(0.05)
        os.kill(mlrun.pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(mlrun.pid, signal.SIGCONT)
        mlrun.communicate(timeout=60)
    return Trace(out), mlrun.returncode


def check(this):
    dropped = 0
    for (victim, *arguments), more, varying in VICTIMS:
        progress = this.path("progress")
        progress.write_bytes(bytes(issued.SLOT.size * issued.SLOTS))
        command = (this.victim(victim), this.data_file(), progress, *arguments)
        trace, status = dropping(this, *command)
        whole = this.trace(*command, options=("--lossless", *ALL), status=status)
        this.equal("drops of the lossless run", whole.dropped(), 0)
        missing = rows(whole) - rows(trace)
        this.true(f"{victim}: what is missing is counted", missing - varying <= trace.dropped() <= missing + varying + more,
                  (missing, trace.dropped()))
        print(f"{victim}: {missing} rows missing of {rows(whole)}, {trace.dropped()} counted")
        dropped += trace.dropped()
    this.true("something was dropped at all", dropped > 0)


if __name__ == "__main__":
    case.run(check)
