#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the data of these programs in a folder: once, the same each time. Usage: data.py FOLDER

shard.bin   256 MiB of noise
small/      40 folders with 200 files of 8 KiB each
"""

import os
import random
import sys

SHARD_MIB = 256
FOLDERS, FILES, FILE_SIZE = 40, 200, 8192


def small_path(folder, number):
    return os.path.join(folder, "small", f"{number // FILES:03d}", f"{number:06d}.bin")


def write(path, size, chance):
    """Clean pages only can be dropped from the page cache, so it is flushed to the device. The name appears when all is there."""
    with open(path + ".part", "wb") as file:
        for _ in range(0, size, 1 << 20):
            file.write(chance.randbytes(min(size, 1 << 20)))
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".part", path)


def shard(folder):
    path = os.path.join(folder, "shard.bin")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        write(path, SHARD_MIB << 20, random.Random(1))
    return path


def small(folder):
    done = os.path.join(folder, "small", "done")
    if not os.path.exists(done):
        chance = random.Random(2)
        for number in range(FOLDERS * FILES):
            path = small_path(folder, number)
            if number % FILES == 0:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(chance.randbytes(FILE_SIZE))
        os.sync()
        write(done, 0, chance)
    return [small_path(folder, number) for number in range(FOLDERS * FILES)]


if __name__ == "__main__":
    shard(sys.argv[1])
    small(sys.argv[1])
