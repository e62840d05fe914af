# SPDX-License-Identifier: Apache-2.0
"""A folder that was there before stays when a run cannot start. `mlrun recover` keeps the raw events that --keep-raw asked for, and finds the buffer in the
trace folder wherever that was moved to. mlrun passes signals on where the stack limit is small, too."""

import resource
import signal
import subprocess

from lib import case, killed_collector
from lib.trace import Trace

SMALL_SHARED_MEMORY = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=4M none /dev/shm && exec "$@"', "sh")
KIB = 1 << 10


def check_folders(this):
    there, new = this.path("there"), this.path("new")
    there.mkdir()
    for folder, name, cwd in ((there, there, this.folder), (there, ".", there), (new, new, this.folder)):
        done = this.run(case.MLRUN, "--preload", "-o", name, "--", "/no/such/program", cwd=cwd)
        this.equal(f"-o {name}: status", done.returncode, 127, said=done.stderr)
        this.equal(f"-o {name}: is the folder there", folder.exists(), folder == there)
    this.equal("nothing is left in it", list(there.iterdir()), [])


def check_raw(this):
    data, out = this.data_file(), this.new_trace()
    done = this.run(*this.command("cat", data, out=out, options=("--keep-raw", "--defer-merge")))
    this.equal("status", done.returncode, 0, said=done.stderr)
    for _ in range(2):
        done = this.run(case.MLRUN, "recover", "--quiet", out)
        this.equal("recover", done.returncode, 0, said=done.stderr)
        this.true("the raw events are kept", (out / "spool.bin").exists() and (out / "session.json").exists(), list(out.iterdir()))
        (out / "run.json").unlink()


def check_moved(this):
    after = killed_collector.kill_mlrun_after(this, killed_collector.CALLS // 4, prefix=SMALL_SHARED_MEMORY)
    this.true("the buffer is in the trace folder", (after.trace / "arena.bin").exists(), list(after.trace.iterdir()))
    moved = after.trace.rename(this.path("moved"))
    done = this.run(case.MLRUN, "recover", "--quiet", moved)
    this.equal("recover", done.returncode, 0, said=done.stderr)
    calls = len(Trace(moved).calls_of("pread", path=this.data_file()))
    this.equal("calls, also those after the kill", calls, killed_collector.CALLS)
    this.true("the buffer is gone", not (moved / "arena.bin").exists())


def check_signals(this):
    out = this.new_trace()
    command = this.command("/bin/sh", "-c", "trap 'echo ended; exit 5' TERM; echo begun; while :; do sleep 0.05; done", out=out)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=this.environment, cwd=this.folder,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (512 * KIB, 512 * KIB))) as mlrun:
        this.equal("begun", mlrun.stdout.readline(), "begun\n")
        mlrun.send_signal(signal.SIGTERM)
        said, _ = mlrun.communicate(timeout=60)
    this.equal("what the command does at the signal", (said, mlrun.returncode), ("ended\n", 5))
    this.true("there is a trace", (out / "run.json").exists())


def check(this):
    check_folders(this)
    check_raw(this)
    check_moved(this)
    check_signals(this)


if __name__ == "__main__":
    case.run(check)
