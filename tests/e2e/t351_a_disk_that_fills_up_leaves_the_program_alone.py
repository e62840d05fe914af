# SPDX-License-Identifier: Apache-2.0
"""When the disk of the trace folder fills up during the run, the program's output and status are as untraced, and mlrun
says that recording stopped and why. Once there is room, what was recorded until then becomes a trace that states the
loss. The same holds if the buffer is on that disk, and if the disk has room again before the end."""

import shutil

from lib import case
from lib.trace import Trace

CALLS = 400000  # 26 MB of records
LIMIT = "--max-spool"
FULL = 'mount -t tmpfs -o size=12m tmpfs "$1" && cd "$1" && shift && "$@"; status=$?; cp -r trace "$KEEP"; exit $status'


def full_disk(this, name, status, *options):
    disk, kept = this.path(f"disk-{name}"), this.path(f"kept-{name}")
    disk.mkdir()
    program = ("/bin/sh", "-c", f'"$@"; exit {status}', "sh", this.victim("numbered"), this.data_file(), CALLS, "_exit")
    mlrun = (case.MLRUN, "--preload", "-o", "trace", *options, "--", *program)
    done = this.run("unshare", "-m", "/bin/sh", "-c", FULL, "sh", disk, *mlrun, env=this.environment | {"KEEP": str(kept)})
    this.equal("exit status of the program", done.returncode, status, said=done.stderr)
    this.equal("output of the program", done.stdout, "")
    return kept, done.stderr


def expect_the_first_part(this, trace):
    numbers = [call.offset for call in trace.calls_of("pread", path=this.data_file())]
    this.equal("numbers recorded twice", len(numbers) - len(set(numbers)), 0)
    this.true("the first calls are there, the last are not", 1000 < len(numbers) < CALLS, len(numbers))
    this.true("the loss is stated", trace.rows("loss"), trace.run)


def full_for_a_while(this):
    """The program fills the disk with a file of its own, reads, and removes the file."""
    disk = this.path("disk-while")
    disk.mkdir()
    program = f'head -c 40m /dev/zero > "$0/ballast" 2>/dev/null; {this.victim("numbered")} {this.data_file()} {CALLS} _exit; rm "$0/ballast"'
    mount = 'mount -t tmpfs -o size=40m tmpfs "$1" && "${@:2}"'
    mlrun = (case.MLRUN, "--preload", "--max-spool", "30M", "-o", disk / "trace", "--", "/bin/sh", "-c", program, disk)
    done = this.run("unshare", "-m", "/bin/bash", "-c", mount, "bash", disk, *mlrun)
    this.equal("exit status of the program", done.returncode, 0, said=done.stderr)
    this.true("recording stopped", "stopped before the end" in done.stderr, done.stderr)
    this.true("the disk is the reason", "No space left on device" in done.stderr and LIMIT not in done.stderr, done.stderr)


def check(this):
    case.need_mounts()
    kept, said = full_disk(this, "spool", 7, "--max-spool", "1G")
    this.true("the disk is the reason", ("the disk took no more" in said or "No space left" in said) and LIMIT not in said, said)
    if not (kept / "run.json").exists():
        recovered = this.run(case.MLRUN, "recover", kept)
        this.equal("exit status of recover", recovered.returncode, 0, said=recovered.stderr)
    expect_the_first_part(this, Trace(kept))
    shutil.rmtree(kept)
    kept, said = full_disk(this, "buffer", 0, "--max-spool", "1G", "--buffer", "4G")
    if not (kept / "run.json").exists():
        recovered = this.run(case.MLRUN, "recover", kept)
        this.equal("exit status of recover", recovered.returncode, 0, said=recovered.stderr + said)
    this.true("the loss is stated", Trace(kept).rows("loss"), said)
    full_for_a_while(this)


if __name__ == "__main__":
    case.run(check)
