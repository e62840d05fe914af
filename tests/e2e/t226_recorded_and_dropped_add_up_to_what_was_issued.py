# SPDX-License-Identifier: Apache-2.0
"""Without --lossless, in the smallest buffer and with a collector that is stopped for a while, rows and counted drops
add up exactly to what was issued, for every kind of record. Covers one thread, dying threads, forked children, a
handler at 20 kHz, descriptors closed by closefrom, and exec.

Calls issued are counted by a lossless run of the same program. Blocks issued are counted in the same run by a library
between mlrun and libc, since libc allocates blocks for a new thread unless it reuses the stack of an ended one. The
handler counts its own runs."""

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
# Only long waits have rows, which varies between runs.
CALLS, BLOCKS = ("file call", "process call"), ("allocation", "free")
ALL = ("--alloc-min", "0")
OPENS_ITS_COUNTS = 3  # open, mmap and close, by the library that counts, in each program
COUNTED = struct.Struct("2q")


def dropping(this, *command):
    """A trace of the command with the collector stopped while the buffer filled up, its exit status, and its blocks."""
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
    """How many calls the handler made; resets the counts."""
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
