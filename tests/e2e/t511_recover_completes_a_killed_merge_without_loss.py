# SPDX-License-Identifier: Apache-2.0
"""After SIGKILL to the merge at several moments, the folder is not a finished trace, and recover completes it; two
merges of one folder never run at once."""

import os
import random
import signal
import subprocess
import time

from lib import case, serials
from lib.trace import Trace

CALLS, ROUNDS = 300_000, 4


def kill_group_after(this, out, seconds):
    """Starts recover and kills it, with the merger that it started, `seconds` later. Returns whether it was in time."""
    with subprocess.Popen([case.MLRUN, "recover", out], env=this.environment, cwd=this.folder, start_new_session=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as recover:
        time.sleep(seconds)
        os.killpg(recover.pid, signal.SIGKILL)
        return recover.wait() == -signal.SIGKILL


def time_of_a_merge(this, out):
    start = time.monotonic()
    done = this.run(case.MLRUN.parent / "mlrun-trace", "merge", out)
    this.equal("exit status of the merge", done.returncode, 0, said=done.stderr)
    return time.monotonic() - start


def check_second_merge(this, out):
    trace_program = str(case.MLRUN.parent / "mlrun-trace")
    with subprocess.Popen([trace_program, "merge", out], env=this.environment, cwd=this.folder) as first:
        until = time.monotonic() + 30
        while not (out / "merging").exists() and first.poll() is None and time.monotonic() < until:
            time.sleep(0.001)
        second = this.run(trace_program, "merge", out)
        said_so = second.returncode != 0 and "another merge" in second.stderr
        this.true("a second merge at the same time is refused", said_so or first.poll() is not None, second.stderr)
    this.equal("exit status of the first", first.returncode, 0)


def check(this):
    data, out = this.data_file(), this.new_trace()
    done = this.run(*this.command(this.victim("numbered"), data, CALLS, "exit", out=out, options=("--defer-merge",)))
    this.equal("exit status", done.returncode, 7, said=done.stderr)
    whole = time_of_a_merge(this, out)
    check_second_merge(this, out)
    (out / "run.json").unlink()
    moments = random.Random()
    for _ in range(ROUNDS):
        killed = kill_group_after(this, out, moments.uniform(0, whole))
        finished = (out / "run.json").exists()
        if killed and finished:
            serials.expect_threads(this, Trace(out).serials(data), [CALLS])
        if not killed:
            break
        # A recovery that was killed between its last step and its end has deleted the spool, as it should.
        this.true("the spool is kept until the trace is whole", (out / "spool.bin").exists() or finished)
    done = this.run(case.MLRUN, "recover", out)
    this.equal("exit status of recover", done.returncode, 0, said=done.stderr)
    serials.expect_threads(this, Trace(out).serials(data), [CALLS])
    this.true("nothing of the merge is left", not (out / "merging").exists(), list(out.iterdir()))


if __name__ == "__main__":
    case.run(check)
