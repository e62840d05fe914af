#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainings over a DataLoader whose workers are slow for one reason.

A step computes for so long and its batch takes the one worker longer; the two run side by side, so the loop waits for the
difference: a batch of 40 ms and a step of 10 ms leave 75 % of the loop without a batch.
"""

import fcntl
import multiprocessing
import multiprocessing.util
import os
import time
import urllib.request

from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info
import torch

from truth import epoch_steps, main, program, train
import data
import work

BATCH = 4


class Samples(Dataset):
    """make(number) is what a sample costs."""

    def __init__(self, count, make):
        self.count, self.make = count, make

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        self.make(number)
        return torch.full((256,), float(number))


# Spawned workers get the dataset pickled: what makes a sample is a class, not a function within another.
class Decode:
    def __init__(self, cpu_s):
        self.cpu_s = cpu_s

    def __call__(self, number):
        work.decode(self.cpu_s)


class Nothing:
    def __call__(self, number):
        pass


def loader(steps, make, workers=1, method="fork", batch=BATCH, **more):
    if workers:
        more = {"multiprocessing_context": method, "persistent_workers": True, **more}
    return DataLoader(Samples(steps * batch, make), batch_size=batch, num_workers=workers, **more)


def train_on(truth, options, source, compute_s):
    train(truth, options, lambda: source, lambda: work.compute(compute_s))


@program("data_transform_cpu")
def fork_decode(truth, options):
    """Batch 40 ms, step 10 ms: 75 %."""
    train_on(truth, options, loader(epoch_steps(options, 0.04), Decode(0.01)), 0.01)


@program("data_transform_cpu")
def spawn_decode(truth, options):
    """Batch 40 ms, step 16 ms: 60 %. The start of the worker is before the first batch."""
    train_on(truth, options, loader(epoch_steps(options, 0.04), Decode(0.01), method="spawn"), 0.016)


@program("data_transform_cpu")
def forkserver_decode(truth, options):
    """As spawn_decode, with one more process between the two."""
    train_on(truth, options, loader(epoch_steps(options, 0.04), Decode(0.01), method="forkserver"), 0.016)


def pretend_accelerator():
    """Without an accelerator PyTorch starts no pin-memory thread. Its own thread runs here with a pin that copies: the chain of
    queues from worker to loop is the real one."""
    from torch.utils.data._utils import pin_memory
    torch.accelerator.is_available = lambda: True
    torch.accelerator.set_device_index = lambda index: None
    torch.accelerator.current_device_index = lambda: 0
    torch.accelerator.current_accelerator = lambda *a: torch.device("cpu")
    pin_memory.pin_memory = lambda batch, device=None: batch if batch is None else batch.clone()  # None: the next epoch begins


@program("data_transform_cpu")
def pin_decode(truth, options):
    """Batch 40 ms, step 16 ms: 60 %."""
    pretend_accelerator()
    train_on(truth, options, loader(epoch_steps(options, 0.04), Decode(0.01), pin_memory=True), 0.016)


@program("data_transform_cpu")
def two_loaders(truth, options):
    """A quick loader and a slow one, side by side: 40 ms and a step of 16 ms leave 60 %."""
    steps = epoch_steps(options, 0.04)
    quick, slow = loader(steps, Nothing()), loader(steps, Decode(0.01))
    train(truth, options, lambda: zip(iter(quick), iter(slow)), lambda: work.compute(0.016))


@program("data_transform_cpu")
def thread_trainer(truth, options):
    """The training runs in a thread, the main thread only joins it. 60 %."""
    import threading
    source = loader(epoch_steps(options, 0.04), Decode(0.01))
    thread = threading.Thread(target=train_on, args=(truth, options, source, 0.016))
    thread.start()
    thread.join()


@program("data_in_driver", accept=["data_transform_cpu"])
def zero_decode(truth, options):
    """No workers: the loop decodes for 20 ms and computes for 10 ms: 67 %."""
    train_on(truth, options, loader(epoch_steps(options, 0.03), Decode(0.005), workers=0), 0.01)


@program("data_in_driver", accept=["data_device"])
def zero_device(truth, options):
    """No workers: the loop reads from the device for 20 ms and computes for 10 ms: 67 %."""
    path = data.shard(options.data)
    source = loader(epoch_steps(options, 0.03), lambda number: work.read_direct(path, number, 0.005), workers=0)
    train_on(truth, options, source, 0.01)


class Boxes(Dataset):
    """The same object for each sample: making it costs nothing, handing it over does."""

    def __init__(self, count):
        self.count = count
        self.sample = {"image": bytes(1 << 20), "boxes": [{"x": k, "y": str(k)} for k in range(3000)]}

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        return self.sample


@program("data_serialisation")
def pickle_objects(truth, options):
    """12,000 small objects and 4 MiB a batch are pickled, sent and unpickled; step 10 ms. Most of the
    cost is the loop's own: it unpickles."""
    steps = epoch_steps(options, 0.04)
    source = DataLoader(Boxes(steps * BATCH), batch_size=BATCH, num_workers=1, collate_fn=copies,
                        multiprocessing_context="fork", persistent_workers=True)
    train_on(truth, options, source, 0.01)


def copies(batch):
    """What occurs twice is pickled once: the batch gets objects of its own."""
    return [{"image": one["image"][:-1] + b"x", "boxes": [dict(box) for box in one["boxes"]]} for one in batch]


class SlowWorker:
    """The last worker needs eight times as long as the others."""

    def __call__(self, number):
        info = get_worker_info()
        work.decode(0.040 if info.id == info.num_workers - 1 else 0.002)


@program("data_slow_worker", accept=["data_transform_cpu"])
def slow_worker(truth, options):
    """Four workers in turn, batches in order. Three need 8 ms for a batch and one 160 ms. Steps are 16 ms, so in four of them (64 ms)
    the loop waits for the slow one's 160 ms: 60 %. Together they keep a processor and a sixth busy, the loop 40 % of one."""
    train_on(truth, options, loader(epoch_steps(options, 0.04), SlowWorker(), workers=4), 0.016)


class UnderFileLock:
    """One process at a time reads the shard."""

    def __init__(self, path, lock, wall_s):
        self.path, self.lock, self.wall_s = path, lock, wall_s

    def __call__(self, number):
        with open(self.lock, "w", encoding="utf8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            work.read_direct(self.path, number, self.wall_s)


@program("data_lock")
def file_lock(truth, options):
    """Four workers, one lock: 4 samples of 10 ms each are 40 ms a batch, step 10 ms: 75 %. Each worker waits three quarters of its
    time for the lock; without it the device would serve four at once."""
    make = UnderFileLock(data.shard(options.data), os.path.join(options.data, "lock"), 0.01)
    train_on(truth, options, loader(epoch_steps(options, 0.04), make, workers=4), 0.01)


class UnderProcessLock:
    """The same with a lock that multiprocessing makes, in memory that the workers share."""

    def __init__(self, path, wall_s):
        self.path, self.wall_s, self.lock = path, wall_s, multiprocessing.get_context("fork").Lock()

    def __call__(self, number):
        with self.lock:
            work.read_direct(self.path, number, self.wall_s)


@program("data_lock")
def process_lock(truth, options):
    """As file_lock: 75 %. No thread of a worker posts what it waits for."""
    train_on(truth, options, loader(epoch_steps(options, 0.04), UnderProcessLock(data.shard(options.data), 0.01), workers=4), 0.01)


class RateLimit:
    def __call__(self, number):
        time.sleep(0.02)


@program("timer")
def rate_limit(truth, options):
    """Two workers that sleep 20 ms before each sample: 40 ms a batch, step 10 ms: 75 %."""
    train_on(truth, options, loader(epoch_steps(options, 0.04), RateLimit(), workers=2), 0.01)


class Get:
    """One object of the store by HTTP, a connection each, as an object store's client without a pool does."""

    def __init__(self, server):
        self.url = f"http://{server}/object"

    def __call__(self, number):
        with urllib.request.urlopen(self.url) as answer:
            answer.read()


@program("data_remote")
def http_loader(truth, options):
    """Two workers, each sample waits 20 ms for the server, which is no part of the run: 40 ms a batch, step 10 ms: 75 %."""
    train_on(truth, options, loader(epoch_steps(options, 0.04), Get(options.server), workers=2), 0.01)


@program("worker_startup")
def spawn_each_epoch(truth, options):
    """A new spawned worker for each epoch of 0.5 s: it imports torch for a second or more meanwhile. The first one is start-up."""
    source = loader(max(4, int(min(0.5, options.seconds / 4) / 0.02)), Nothing(), method="spawn", persistent_workers=False)
    train_on(truth, options, source, 0.02)


def close_slowly():
    work.squeeze(0.8)


def closes_slowly(worker):
    multiprocessing.util.Finalize(None, close_slowly, exitpriority=10)


@program("loader_end", planted="loader_end_ns")
def slow_shutdown(truth, options):
    """Each forked worker compresses for 0.8 s when it ends, after an epoch of 0.5 s: 60 %."""
    source = loader(max(4, int(min(0.5, options.seconds / 4) / 0.02)), Nothing(), persistent_workers=False, worker_init_fn=closes_slowly)
    train_on(truth, options, source, 0.02)


@program("compute_bound", planted="compute_ns")
def ok_fork(truth, options):
    """Two workers need 4 ms for a batch, the step 80 ms: receiving takes 2 to 3 ms of it."""
    train_on(truth, options, loader(epoch_steps(options, 0.08), Decode(0.001), workers=2), 0.08)


@program("compute_bound", planted="compute_ns")
def ok_pin(truth, options):
    """One worker needs 4 ms for a batch, the step 40 ms; a pin-memory thread between them."""
    pretend_accelerator()
    train_on(truth, options, loader(epoch_steps(options, 0.04), Decode(0.001), pin_memory=True), 0.04)


@program("compute_bound", planted="compute_ns")
def ok_zero(truth, options):
    """No workers and next to nothing to load."""
    train_on(truth, options, loader(epoch_steps(options, 0.04), Nothing(), workers=0), 0.04)


class Stream(IterableDataset):
    def __init__(self, count, path):
        self.count, self.path = count, path

    def __iter__(self):
        info = get_worker_info()
        for number in range(info.id, self.count, info.num_workers):
            work.read_direct(self.path, number, 0.02, in_order=True)
            yield torch.full((256,), float(number))


@program("data_device")
def iterable_device(truth, options):
    """Two workers stream the shard past the page cache: 40 ms a batch, step 10 ms: 75 %."""
    steps = epoch_steps(options, 0.04)
    source = DataLoader(Stream(steps * BATCH, data.shard(options.data)), batch_size=BATCH, num_workers=2,
                        multiprocessing_context="fork", persistent_workers=True)
    train_on(truth, options, source, 0.01)


if __name__ == "__main__":
    main(__doc__)
