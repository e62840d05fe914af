# SPDX-License-Identifier: Apache-2.0
"""What workers and trainers of these programs do, by time: so the planted share is the same on a fast and on a slow machine.

Computing is measured in processor time of the thread (a neighbour makes it longer, not smaller), waiting for a device in wall time.
"""

import mmap
import os
import random
import time
import zlib

import torch

PAGE = 4096
W = torch.randn(256, 256)
LARGE = torch.randn(512, 512)
torch.set_num_threads(1)


def decode(cpu_s):
    """Computes in Python and holds Python's lock."""
    end = time.thread_time() + cpu_s
    total = 0
    while time.thread_time() < end:
        for k in range(2000):
            total += k & 7
    return total


TEXT = bytes(k * k % 251 for k in range(100_000))


def squeeze(cpu_s):
    """Computes in C, without Python's lock."""
    end = time.thread_time() + cpu_s
    while time.thread_time() < end:
        zlib.compress(TEXT, 6)


def compute(wall_s):
    """A step of the model that takes so long, whatever else runs."""
    x, end = W, time.perf_counter() + wall_s
    while time.perf_counter() < end:
        x = torch.tanh(x @ W)


def compute_cpu(cpu_s, weights=W):
    """A step of the model that needs so much of a processor."""
    x, end = weights, time.thread_time() + cpu_s
    while time.thread_time() < end:
        x = torch.tanh(x @ weights)


def read_direct(path, seed, wall_s, request=256 << 10, in_order=False):
    """Reads past the page cache: the device answers each request. Returns their number."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
    buffer, places = mmap.mmap(-1, request), os.fstat(descriptor).st_size // request
    chance, count, end = random.Random(seed), 0, time.perf_counter() + wall_s
    at = chance.randrange(places)
    while time.perf_counter() < end:
        at = (at + 1) % places if in_order else chance.randrange(places)
        os.preadv(descriptor, [buffer], at * request)
        count += 1
    buffer.close()
    os.close(descriptor)
    return count


def read_cold(path, seed, wall_s, request=1 << 20):
    """Reads through the page cache, which it empties of this file before each request: each one misses."""
    descriptor = os.open(path, os.O_RDONLY)
    places, chance, end = os.fstat(descriptor).st_size // request, random.Random(seed), time.perf_counter() + wall_s
    while time.perf_counter() < end:
        at = chance.randrange(places) * request
        os.posix_fadvise(descriptor, at, request, os.POSIX_FADV_DONTNEED)
        os.pread(descriptor, request, at)
    os.close(descriptor)


def touch_cold(path, seed, wall_s, pages=64):
    """The same through a mapping: each page of 64 is a major fault. A page is dropped only while nothing has it mapped."""
    descriptor = os.open(path, os.O_RDONLY)
    size, chance, end = os.fstat(descriptor).st_size, random.Random(seed), time.perf_counter() + wall_s
    total = 0
    while time.perf_counter() < end:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        with mmap.mmap(descriptor, size, prot=mmap.PROT_READ) as mapped:
            mapped.madvise(mmap.MADV_RANDOM)
            total += sum(mapped[chance.randrange(size // PAGE) * PAGE] for _ in range(pages))
    os.close(descriptor)
    return total


def checkpoint(folder, wall_s, shard_mib=4):
    """Saves shards of a model, each flushed to the device, for so long."""
    tensor, end, number = torch.zeros(shard_mib << 18), time.perf_counter() + wall_s, 0
    while time.perf_counter() < end:
        with open(os.path.join(folder, f"checkpoint_{number % 8}.pt"), "wb") as file:
            torch.save({"shard": number, "weights": tensor}, file)
            file.flush()
            os.fsync(file.fileno())
        number += 1


def log(file, step, wall_s):
    """Lines of a log, each flushed to the device, for so long."""
    end = time.perf_counter() + wall_s
    while time.perf_counter() < end:
        file.write(f'{{"step": {step}, "loss": 0.5}}\n')
        file.flush()
        os.fsync(file.fileno())
