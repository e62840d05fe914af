#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A FUSE server that speaks the kernel's protocol: a folder with one file of zeroes, `data`, that takes 20 ms for each read
and caches nothing.

Usage: slow_fuse.py FOLDER BYTES   (serves until the folder is unmounted)"""

import ctypes
import errno
import os
import struct
import sys
import time

DELAY_S = 0.02
LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, BATCH_FORGET = 1, 2, 3, 14, 15, 18, 25, 26, 42
DIRECT_IO = 1
FOLDER, FILE = 1, 2
folder, size = sys.argv[1], int(sys.argv[2])


def attributes(node):
    mode, length = (0o40755, 0) if node == FOLDER else (0o100644, size)
    return struct.pack("6Q10I", node, length, length // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(opcode, node, body):
    if opcode == INIT:
        return struct.pack("4I2H2I2HI7I", 7, 31, 0, 0, 12, 9, 131072, 1, 32, 0, 0, *[0] * 7)
    if opcode == LOOKUP:
        return struct.pack("4Q2I", FILE, 0, 1, 1, 0, 0) + attributes(FILE) if body == b"data\0" else -errno.ENOENT
    if opcode == GETATTR:
        return struct.pack("QII", 1, 0, 0) + attributes(node)
    if opcode == OPEN:
        return struct.pack("QII", 1, DIRECT_IO, 0)
    if opcode == READ:
        _, offset, wanted = struct.unpack_from("QQI", body)
        time.sleep(DELAY_S)
        return bytes(max(0, min(wanted, size - offset)))
    return b"" if opcode in (RELEASE, FLUSH) else -errno.ENOSYS


device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"slow", folder.encode(), b"fuse", 0, options) != 0:
    sys.exit(f"slow_fuse.py: {folder}: {os.strerror(ctypes.get_errno())}")
while True:
    try:
        request = os.read(device, 1 << 20)
    except OSError as error:
        sys.exit(0 if error.errno == errno.ENODEV else str(error))
    _, opcode, unique, node = struct.unpack_from("IIQQ", request)
    if opcode in (FORGET, BATCH_FORGET):
        continue
    reply = answer(opcode, node, request[40:])
    error, data = (reply, b"") if isinstance(reply, int) else (0, reply)
    os.write(device, struct.pack("IiQ", 16 + len(data), error, unique) + data)
