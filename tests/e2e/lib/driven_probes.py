# SPDX-License-Identifier: Apache-2.0
"""Drives mlrun-probes as mlrun does, on one command, also while no process empties its rings. Uses only the standard library, so that
guests can run it."""

import json
import os
import signal
import socket
import struct
import subprocess

READY, FOLLOW, FOLLOWING, STOP, REPORT, ENDED = 1, 3, 4, 5, 6, 9  # messages
PART, WAIT, LOSS, FILE_OP = 2, 3, 4, 6  # kinds of records
RING, OPEN = 1, 3  # reasons of a loss
FRAME, HEAD = struct.Struct("<IHHI52x"), struct.Struct("<HHIQII")


def receive(sock, wanted):
    kind, value = struct.unpack_from("<Ii", message := sock.recv(1 << 17))
    if kind == ENDED:  # of what was observed
        return receive(sock, wanted)
    if kind != wanted or value != 0:
        raise AssertionError(f"message {kind} with {value}, wanted {wanted}: {message[8:]!r}")
    return message[8:].decode()


def records(path):
    """Of a spool, as pairs of kind and bytes."""
    spool, at = path.read_bytes(), 0
    while at + FRAME.size <= len(spool):
        payload_bytes = FRAME.unpack_from(spool, at)[3]
        record, end = at + FRAME.size, at + FRAME.size + payload_bytes
        while record < end:
            kind, size = HEAD.unpack_from(spool, record)[:2]
            yield kind, spool[record:record + size]
            record += size
        at = end + -end % FRAME.size


def losses(path, wanted):
    """The number of lost records of that kind, and the reasons of all losses."""
    count, reasons = 0, set()
    for kind, record in records(path):
        if kind == LOSS:
            lost, of_kind, reason = struct.unpack_from("<QII", record, 32)
            reasons.add(reason)
            count += lost if of_kind == wanted else 0
    return count, reasons


def record(probes, streams, spool_path, command, stopped=False, env=None):
    """Records `command` in a new spool with the mlrun-probes at `probes`, which is stopped meanwhile if `stopped`. `env`: additions to
    the environment of mlrun-probes. Returns its report and the command's stderr."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with open(spool_path, "xb") as spool:
        high = [os.dup2(fd, number) for fd, number in ((theirs.fileno(), 100), (spool.fileno(), 101))]
        served = subprocess.Popen(["bash", "-c", f"exec {probes} serve {streams} 3<&100 4>&101"], pass_fds=high,
                                  env=os.environ | (env or {}))
    theirs.close()
    for fd in high:
        os.close(fd)
    with ours, served:
        receive(ours, READY)
        reader = subprocess.Popen(["sh", "-c", f"echo >&2; read x; exec {command}"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                                  env=os.environ | {"LC_ALL": "C"})
        reader.stderr.readline()  # what a shell does to begin is done: the command is all that is recorded
        socket.send_fds(ours, [struct.pack("<Ii", FOLLOW, 0)], [os.pidfd_open(reader.pid)])
        receive(ours, FOLLOWING)
        if stopped:
            os.kill(served.pid, signal.SIGSTOP)  # its rings are not emptied
        said = reader.communicate(b"go\n")[1].decode()
        os.kill(served.pid, signal.SIGCONT)
        ours.send(struct.pack("<Ii", STOP, 0))
        return json.loads(receive(ours, REPORT)), said


def record_stopped(probes, streams, spool_path, command, env=None):
    return record(probes, streams, spool_path, command, stopped=True, env=env)
