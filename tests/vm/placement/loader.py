# SPDX-License-Identifier: Apache-2.0
"""A PyTorch DataLoader that asks the kernel where its memory is. Usage: loader.py fork|spawn WORKERS MAPPING-KIB KIB...

Each worker, and the process that reads from them, makes a tensor and an array of each size, one anonymous mapping, and writes to all of it. A line of JSON
for each process: its role, its pid, its blocks with the nodes of their pages by move_pages. The reading process also has the batches, in shared memory. All
of it stays until a line comes on standard input."""

import ctypes
import json
import mmap
import os
import sys

import numpy
import torch
from torch.utils.data import DataLoader, Dataset

PAGE, MOVE_PAGES, NODES = 4096, 279, 4
SAMPLE_FLOATS, SAMPLES_OF_BATCH, BATCHES_OF_WORKER = 64 << 10, 4, 2
LIBC = ctypes.CDLL(None)
kept = []


def pages_by_node(address, size):
    """Of the whole pages inside it, how many are on nodes 0, 1 and 2, and elsewhere or in no memory."""
    first, end = -(-address // PAGE), (address + size) // PAGE
    where = (ctypes.c_void_p * (end - first))(*[page * PAGE for page in range(first, end)])
    found = (ctypes.c_int * (end - first))()
    if LIBC.syscall(MOVE_PAGES, 0, ctypes.c_ulong(end - first), where, None, found, 0):
        raise SystemExit("move_pages failed")
    counts = [0] * NODES
    for node in found:
        counts[node if 0 <= node < NODES - 1 else NODES - 1] += 1
    return counts


def described(what, address, size):
    return {"what": what, "kib": size >> 10, "address": address, "bytes": size, "pages": pages_by_node(address, size)}


def make_blocks(mapping_bytes, sizes):
    mapping = mmap.mmap(-1, mapping_bytes, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    mapping.write(b"\1" * mapping_bytes)
    view = ctypes.c_char.from_buffer(mapping)
    kept.extend((mapping, view))
    rows = [described("mapping", ctypes.addressof(view), mapping_bytes)]
    for size in sizes:
        tensor = torch.full((size // 4,), 1.0)
        array = numpy.full(size, 1, dtype=numpy.uint8)
        kept.extend((tensor, array))
        rows += [described("tensor", tensor.data_ptr(), size), described("array", array.ctypes.data, size)]
    return rows


class Samples(Dataset):
    """Each sample holds its own number. With its first one a worker sends where its blocks are."""

    def __init__(self, workers, mapping_bytes, sizes):
        self.count = workers * SAMPLES_OF_BATCH * BATCHES_OF_WORKER
        self.blocks = mapping_bytes, sizes
        self.report = None

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        report = ""
        if self.report is None:
            self.report = report = json.dumps({"role": "worker", "pid": os.getpid(), "blocks": make_blocks(*self.blocks)})
        return torch.full((SAMPLE_FLOATS,), float(index)), report


def read_batches(loader):
    """(rows of the batches, reports of the workers)"""
    rows, reports = [], []
    for number, (values, texts) in enumerate(loader):
        wanted = torch.arange(number * SAMPLES_OF_BATCH, (number + 1) * SAMPLES_OF_BATCH, dtype=torch.float32)
        if not values.is_shared() or not torch.equal(values, wanted[:, None].expand(-1, SAMPLE_FLOATS)):
            raise SystemExit(f"batch {number} is not what its worker has sent")
        kept.append(values)
        rows.append(described("batch", values.data_ptr(), values.nbytes))
        reports += filter(None, texts)
    return rows, reports


def main():
    method, workers, mapping_bytes, *sizes = sys.argv[1], int(sys.argv[2]), *(int(kib) << 10 for kib in sys.argv[3:])
    torch.set_num_threads(1)
    loader = DataLoader(Samples(workers, mapping_bytes, sizes), batch_size=SAMPLES_OF_BATCH, num_workers=workers, multiprocessing_context=method, persistent_workers=True)
    batches, reports = read_batches(loader)
    print(*reports, sep="\n")
    print(json.dumps({"role": "main", "pid": os.getpid(), "blocks": make_blocks(mapping_bytes, sizes) + batches}), flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main()
