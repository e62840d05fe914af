# SPDX-License-Identifier: Apache-2.0
"""A ring of one page cannot hold what a row of direct reads makes: the parts in the spool and those counted as lost are
together as many as the reads. mlrun-probes is driven here as mlrun does it."""

import json
import os
import signal
import socket
import struct
import subprocess

from lib import case
from lib.kernel_side import PROBES, need_block_device, need_kernel_side

READS, PIECE = 500, 4096
READY, FOLLOW, FOLLOWING, STOP, REPORT = 1, 3, 4, 5, 6
PART, LOSS, RING, OPEN = 2, 4, 1, 3
OP_READ, FLAG_ANONYMOUS = 0, 128
FRAME, HEAD = struct.Struct("<IHHI52x"), struct.Struct("<HHIQII")


def receive(sock, wanted):
    kind, value = struct.unpack_from("<Ii", message := sock.recv(1 << 17))
    if kind != wanted or value != 0:
        raise AssertionError(f"message {kind} with {value}, wanted {wanted}: {message[8:]!r}")
    return message[8:].decode()


def records(path):
    spool, at = path.read_bytes(), 0
    while at + FRAME.size <= len(spool):
        payload_bytes = FRAME.unpack_from(spool, at)[3]
        record, end = at + FRAME.size, at + FRAME.size + payload_bytes
        while record < end:
            kind, size = HEAD.unpack_from(spool, record)[:2]
            yield kind, spool[record:record + size]
            record += size
        at = end + -end % FRAME.size


def check(this):
    need_kernel_side()
    need_block_device(this.folder)
    data = this.data_file(READS * PIECE)
    subprocess.run(["sync", data], check=True)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with open(this.path("kernel.bin"), "xb") as spool:
        high = [os.dup2(fd, number) for fd, number in ((theirs.fileno(), 100), (spool.fileno(), 101))]
        probes = subprocess.Popen(["bash", "-c", f"exec {PROBES} serve block,ring=4096 3<&100 4>&101"], pass_fds=high)
    theirs.close()
    for fd in high:
        os.close(fd)
    with ours, probes:
        receive(ours, READY)
        reader = subprocess.Popen(["sh", "-c", f"read x; exec dd if={data} of=/dev/null bs={PIECE} iflag=direct"],
                                  stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        socket.send_fds(ours, [struct.pack("<Ii", FOLLOW, 0)], [os.pidfd_open(reader.pid)])
        receive(ours, FOLLOWING)
        os.kill(probes.pid, signal.SIGSTOP)  # nobody takes anything out
        reader.communicate(b"go\n")
        os.kill(probes.pid, signal.SIGCONT)
        ours.send(struct.pack("<Ii", STOP, 0))
        report = json.loads(receive(ours, REPORT))
    sent = lost = 0
    for kind, record in records(this.path("kernel.bin")):
        if kind == PART:
            size, op, flags = struct.unpack_from("<I8xII", record, 96)
            sent += size == PIECE and op == OP_READ and bool(flags & FLAG_ANONYMOUS)
        elif kind == LOSS:
            count, of_kind, reason = struct.unpack_from("<QII", record, 32)
            this.true("why", reason in (RING, OPEN), reason)
            lost += count if of_kind == PART else 0
    this.true("some were lost, some were not", sent > 0 and lost > 0, (sent, lost))
    # Reads of dd itself before its data (its libraries, from the page cache or not) may be among the lost ones.
    this.true("parts sent and lost are the reads", READS <= sent + lost <= READS + 50, (sent, lost))
    this.true("the report counts them", report["lost"] >= lost, report)


if __name__ == "__main__":
    case.run(check)
