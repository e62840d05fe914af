#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainings whose loader's workers are slow because of how they use files.

As in loaders.py: a batch of 40 ms and a step of 10 ms leave 75 % of the loop without a batch. Samples read for a fixed time, so the
share does not depend on the device; requests of 32 KiB and more leave the processors mostly free.
"""

import os
import random
import time

from loaders import loader, train_on
from truth import epoch_steps, main, program, train
import data
import work


def steps_of(options):
    return epoch_steps(options, 0.04)


@program("data_device")
def workers16_device(truth, options):
    """16 workers, 160 ms for a sample, all at once on the device: 40 ms a batch. 75 %."""
    path = data.shard(options.data)
    source = loader(steps_of(options), lambda number: work.read_direct(path, number, 0.16, 1 << 20), workers=16)
    train_on(truth, options, source, 0.01)


@program("random_requests", accept=["data_device"])
def random_requests(truth, options):
    """Two workers, 32 KiB at a random place past the page cache, again and again. 75 %."""
    path = data.shard(options.data)
    train_on(truth, options, loader(steps_of(options), lambda number: work.read_direct(path, number, 0.02, 32 << 10), workers=2), 0.01)


@program("small_requests", accept=["data_device"])
def small_requests(truth, options):
    """Two workers, 4 KiB after 4 KiB past the page cache. 75 %."""
    path = data.shard(options.data)
    source = loader(steps_of(options), lambda number: work.read_direct(path, number, 0.02, 4 << 10, in_order=True), workers=2)
    train_on(truth, options, source, 0.01)


@program("page_cache_miss", accept=["data_device"])
def cold_reads(truth, options):
    """One worker reads a MiB at a time of what the page cache has lost. 75 %."""
    path = data.shard(options.data)
    train_on(truth, options, loader(steps_of(options), lambda number: work.read_cold(path, number, 0.01)), 0.01)


@program("page_cache_miss", accept=["data_device"])
def cold_mapping(truth, options):
    """One worker touches pages of a mapped file that the page cache has lost: page faults, no calls. 75 %."""
    path = data.shard(options.data)
    train_on(truth, options, loader(steps_of(options), lambda number: work.touch_cold(path, number, 0.01)), 0.01)


def read_whole(path, number):
    with open(path, "rb") as file:
        content = file.read()
    return content[number * 1024:(number + 1) * 1024]


@program("reread")
def reread(truth, options):
    """One worker reads all 256 MiB, which the page cache has, for each sample; a batch is one sample, and each takes 100 ms or more.
    Step 20 ms."""
    path = data.shard(options.data)
    train_on(truth, options, loader(epoch_steps(options, 0.12), lambda number: read_whole(path, number), batch=1), 0.02)


def read_files(paths, number, wall_s):
    """File after file, each read from the device: it leaves the page cache when it has been read."""
    chance, end = random.Random(number), time.perf_counter() + wall_s
    while time.perf_counter() < end:
        descriptor = os.open(chance.choice(paths), os.O_RDONLY)
        os.read(descriptor, data.FILE_SIZE)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


@program("small_files", accept=["page_cache_miss", "small_requests"])
def small_files(truth, options):
    """Two workers and 8,000 files of 8 KiB, about a hundred a sample, none in the page cache. 75 %."""
    paths = data.small(options.data)
    train_on(truth, options, loader(steps_of(options), lambda number: read_files(paths, number, 0.02), workers=2), 0.01)


def search(folder, number, wall_s):
    """Looks a sample up in every folder, under three names, lists the folder that has it and marks it as in use."""
    chance, end = random.Random(number), time.perf_counter() + wall_s
    folders = [os.path.join(folder, "small", f"{k:03d}", "") for k in range(data.FOLDERS)]
    mark = os.path.join(folder, f"in_use_{os.getpid()}")
    while time.perf_counter() < end:
        sample = chance.randrange(data.FOLDERS * data.FILES)
        for name in (f"{sample:06d}.jpg", f"{sample:06d}.png", f"{sample:06d}.bin"):
            for where in folders:
                os.access(where + name, os.R_OK)
        os.listdir(folders[sample // data.FILES])
        os.close(os.open(mark, os.O_CREAT | os.O_WRONLY))
        os.unlink(mark)


@program("metadata")
def metadata(truth, options):
    """One worker looks for its samples' files: 40 ms a batch. 75 %."""
    data.small(options.data)
    train_on(truth, options, loader(steps_of(options), lambda number: search(options.data, number, 0.01)), 0.01)


@program("data_transform_cpu", then=["checkpoint"])
def two_faults(truth, options):
    """A worker that needs 34 ms of a processor for a batch, 37 ms with handing it over, and a step of 24 ms. A checkpoint of 120 ms
    after each 20th step makes 20 steps 820 ms or so, because the loader gets two batches ahead meanwhile: waiting is 27 %, the checkpoint 15 %."""
    source = loader(epoch_steps(options, 0.037), lambda number: work.decode(0.0085))

    def after(number):
        if number % 20 == 0:
            with truth.span("checkpoint_ns"):
                work.checkpoint(options.data, 0.12)
    train(truth, options, lambda: source, lambda: work.compute(0.024), after)
    truth.order({"data_transform_cpu": truth.sums["without_batch_ns"], "checkpoint": truth.sums["checkpoint_ns"]})


@program("page_cache_miss", accept=["data_device"], then=["data_transform_cpu", "logging"])
def moving_fault(truth, options):
    """Three epochs of a third of the time each. The first has 40 ms of cold reads for each step of 10 ms (75 % of it: 25 % of the loop), the
    second 40 ms of decoding for each step of 20 ms (50 %: 17 %), the third 16 ms of flushed log for each step of 24 ms (40 %: 13 %)."""
    path, epochs = data.shard(options.data), []
    steps = max(4, int(options.seconds / 3 / 0.04))
    faults = [(lambda number: work.read_cold(path, number, 0.01), 0.01), (lambda number: work.decode(0.01), 0.02),
              (lambda number: None, 0.024)]

    def open_epoch():
        epochs.append(truth.sums["without_batch_ns"])
        return loader(steps, faults[len(epochs) - 1][0], persistent_workers=False)

    def after(number):
        if len(epochs) == len(faults):
            with truth.span("logging_ns"):
                work.log(file, number, 0.016)
    with open(os.path.join(options.data, "log.txt"), "a", encoding="utf8") as file:
        train(truth, options, open_epoch, lambda: work.compute(faults[len(epochs) - 1][1]), after, epochs=len(faults))
    truth.order({"page_cache_miss": epochs[1] - truth.sums["first_batch_ns"], "data_transform_cpu": epochs[2] - epochs[1],
                 "logging": truth.sums["logging_ns"]})


if __name__ == "__main__":
    main(__doc__)
