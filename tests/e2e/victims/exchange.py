# SPDX-License-Identifier: Apache-2.0
"""Reads and writes files in three threads and a child, at known offsets, with names that lines and parsers trip over."""

import os
import subprocess
import sys
import threading
import time

folder = sys.argv[1]


def work(number):
    path = os.path.join(folder, f"part {number}\n%25'.bin")
    with open(path, "wb", buffering=0) as file:
        for i in range(20):
            file.write(bytes([i]) * (1000 + i))
        os.fsync(file.fileno())
    fd = os.open(path, os.O_RDWR)
    for i in range(20):
        os.pread(fd, 500 + number, i * 700)
    os.pwrite(fd, b"x" * 64, 5)
    os.lseek(fd, 100, os.SEEK_SET)
    os.read(fd, 300)
    twin = os.dup(fd)
    os.close(fd)
    os.read(twin, 200)
    os.fdatasync(twin)
    os.close(twin)
    blocks = [bytearray(1 << 20) for _ in range(4)]
    os.mkdir(os.path.join(folder, f"d{number}"))
    os.rmdir(os.path.join(folder, f"d{number}"))
    try:
        os.open(os.path.join(folder, "not there"), os.O_RDONLY)
    except OSError:
        pass
    return blocks


threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
subprocess.run([sys.executable, "-S", "-c", f"open({folder + '/child'!r}, 'w').write('done')"], check=True)
os.unlink(folder + "/child")
until = time.monotonic() + 1.2
while time.monotonic() < until:  # for the samples
    sum(range(10000))
