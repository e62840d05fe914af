# SPDX-License-Identifier: Apache-2.0
"""Records of tests/e2e/victims/two_processors.c in a kernel-side spool, in its order, and the program's own output."""

import struct
from dataclasses import dataclass

from lib.driven_probes import FILE_OP, HEAD, LOSS, RING, WAIT, records

VARIABLE = "MLRUN_RING_PROCESSORS"  # how many processors share a ring


@dataclass
class Worker:
    name: str
    tid: int
    processor: int
    switches: int
    begin_ns: int
    end_ns: int


@dataclass
class Wait:
    cpu: int
    tid: int
    off_ns: int
    on_ns: int


@dataclass
class Operation:
    cpu: int
    tid: int
    end_ns: int
    number: int
    offset: int
    result: int


def workers(said):
    found = [line.split() for line in said.splitlines() if line]
    return {words[0]: Worker(words[0], *map(int, words[1:])) for words in found}


def waits(spool):
    found = []
    for kind, record in records(spool):
        if kind == WAIT:
            _, _, cpu, on_ns, _, tid = HEAD.unpack_from(record)
            found.append(Wait(cpu, tid, struct.unpack_from("<Q", record, HEAD.size)[0], on_ns))
    return found


def operations(spool):
    found = []
    for kind, record in records(spool):
        if kind == FILE_OP:
            _, _, cpu, end_ns, _, tid = HEAD.unpack_from(record)
            _, number, _, _, offset, _, result = struct.unpack_from("<6Qq", record, HEAD.size)
            found.append(Operation(cpu, tid, end_ns, number, offset, result))
    return found


def lost_by_processor(spool, wanted):
    """How many records of that kind did not fit a ring, by the processor they were made on."""
    lost = {}
    for kind, record in records(spool):
        if kind == LOSS:
            count, of_kind, reason = struct.unpack_from("<QII", record, HEAD.size + 8)
            if of_kind == wanted and reason == RING:
                cpu = HEAD.unpack_from(record)[2]
                lost[cpu] = lost.get(cpu, 0) + count
    return lost
