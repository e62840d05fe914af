# SPDX-License-Identifier: Apache-2.0
"""Without --lossless, in the smallest buffer and with a collector that is stopped for a while: of every kind of record,
rows and counted drops are together what was issued, to the last one. For one thread, dying threads, forked children, a
handler at 20 kHz, descriptors that closefrom closes, and a program that executes another.

What was issued: the calls, as a lossless run of the same program has them; the blocks, as a library between us and libc counted
them in the same run, since libc itself takes some for a thread, or none if the stack of one that ended serves again. How often the
handler struck is its own count."""

import os
import signal
import struct
import subprocess
import time

from lib import case, hook_table, issued
from lib.trace import Trace

VICTIMS = (("issues_ends", 60000, "_exit"), ("issues_ends", 60000, "abort"), ("issues_forks", 400, 200, 0),
           ("issues_threads", 400, 300, 40), ("issues_ends", 60000, "exec"), ("issues_handler", 150000),
           ("issues_closefrom", 60000))
# Waits have rows where they took their time, which is not so in every run.
CALLS, BLOCKS = ("file call", "process call"), ("allocation", "free")
ALL = ("--alloc-min", "0")
OPENS_ITS_COUNTS = 3  # open, mmap and close, by the library that counts, in each program
COUNTED = struct.Struct("2q")


def dropping(this, *command):
    """A trace of the command whose collector stood still while the buffer filled up, its exit status, and its blocks."""
    out, counts = this.new_trace(), this.path("counts")
    counts.write_bytes(bytes(4096))
    environment = this.environment | {"LD_PRELOAD": this.victim("counts_blocks.so"), "COUNTS_BLOCKS": str(counts)}
    whole = this.command(*command, out=out, options=("--buffer", "4M", *ALL))
    with subprocess.Popen(whole, env=environment, cwd=this.folder, stderr=subprocess.PIPE) as mlrun:
        case.wait_until_runs(mlrun.pid, command[0])
        os.kill(mlrun.pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(mlrun.pid, signal.SIGCONT)
        mlrun.communicate(timeout=60)
    return Trace(out), mlrun.returncode, dict(zip(BLOCKS, COUNTED.unpack_from(counts.read_bytes()), strict=True))


def handled(progress):
    """How many calls the handler made; the counts begin anew."""
    calls = sum(count for (_, _, what), count in issued.read(progress).threads.items() if what == "lseeks")
    progress.write_bytes(bytes(issued.SLOT.size * issued.SLOTS))
    return calls


def check(this):
    dropped = 0
    for victim, *arguments in VICTIMS:
        progress = this.path("progress")
        progress.write_bytes(bytes(issued.SLOT.size * issued.SLOTS))
        command = (this.victim(victim), this.data_file(), progress, *arguments)
        trace, status, blocks = dropping(this, *command)
        calls_of_handler = handled(progress)
        whole = this.trace(*command, options=("--lossless", *ALL), status=status)
        this.equal("drops of the lossless run", whole.dropped(), 0)
        drops, rows, of_whole = trace.dropped_by_kind(), hook_table.rows_by_kind(trace), hook_table.rows_by_kind(whole)
        wanted = {kind: of_whole[kind] for kind in CALLS} | blocks
        wanted["file call"] += OPENS_ITS_COUNTS * (2 if "exec" in arguments else 1) + calls_of_handler - handled(progress)
        this.equal("drops of an unknown kind", drops[None], 0)
        for kind in wanted:
            this.equal(f"{victim}: rows and drops of {kind}s", rows[kind] + drops[kind], wanted[kind])
        print(f"{victim}: {dict(drops)} dropped of {wanted}")
        dropped += drops["file call"]
    this.true("something was dropped at all", dropped > 0)


if __name__ == "__main__":
    case.run(check)
