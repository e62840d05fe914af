#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loops as people write them: nothing in the names of their functions says that they load, and a model of PyTorch computes."""

import json
import os
import threading
import time

from torch.utils.data import DataLoader
import torch

from loaders import BATCH, Nothing, Samples, loader
from truth import epoch_steps, main, now, program
import work

MODEL = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.Tanh(), torch.nn.Linear(256, 256))
OPTIMIZER = torch.optim.SGD(MODEL.parameters(), lr=1e-3)


def step(wall_s):
    """Forward and backward again and again, for so long."""
    x, end = torch.ones(BATCH, 256), time.perf_counter() + wall_s
    while time.perf_counter() < end:
        OPTIMIZER.zero_grad()
        MODEL(x).square().mean().backward()
        OPTIMIZER.step()


def loop(truth, options, source_of_epoch, step_s, after=lambda number: None):
    """Epochs until the time is up, two at least."""
    truth.begin()
    epoch = 0
    while epoch < 2 or not truth.passed(options.seconds):
        epoch += 1
        asked = now()
        for _ in source_of_epoch():
            truth.got(asked)
            with truth.span("compute_ns"):
                step(step_s)
            after(len(truth.steps))
            asked = now()
        truth.sums["loader_end_ns"] += now() - asked
    truth.end()


INDEX = json.dumps([{"id": number, "text": "word " * 8, "box": [number, 1, 2, 3]} for number in range(4000)])


def read_index(cpu_s):
    end, index = time.thread_time() + cpu_s, None
    while time.thread_time() < end:
        index = json.loads(INDEX)
    return index


class Indexed(Samples):
    """Reads its index when it is made."""

    def __init__(self, count, make, cpu_s):
        super().__init__(count, make)
        self.rows = read_index(cpu_s)


@program("worker_startup", accept=["data_in_driver"])
def loader_each_epoch(truth, options):
    """The data set, which reads its index for 0.3 s, and a loader with two forked workers are made for each epoch of 0.4 s: 45 % with
    the forks and the first batch."""
    steps = max(4, int(min(0.4, options.seconds / 4) / 0.02))

    def source():
        return DataLoader(Indexed(steps * BATCH, Nothing(), 0.3), batch_size=BATCH, num_workers=2, multiprocessing_context="fork")
    loop(truth, options, source, 0.02)


class Lazy(Samples):
    """Reads its index for its first sample, in each worker."""

    rows = None

    def __getitem__(self, number):
        if self.rows is None:
            self.rows = read_index(0.3)
        return super().__getitem__(number)


@program("worker_startup")
def lazy_workers(truth, options):
    """One worker, started for each epoch of 0.4 s, reads its index for 0.3 s before its first sample: 40 %."""
    steps = max(4, int(min(0.4, options.seconds / 4) / 0.02))
    source = DataLoader(Lazy(steps * BATCH, Nothing()), batch_size=BATCH, num_workers=1, multiprocessing_context="fork")
    loop(truth, options, lambda: source, 0.02)


class ByLength:
    """Batches of samples that are about equally long, which it looks for, for so long each."""

    def __init__(self, steps, cpu_s):
        self.steps, self.cpu_s = steps, cpu_s
        self.lengths = [number * 7919 % 1000 for number in range(4000)]

    def __len__(self):
        return self.steps

    def __iter__(self):
        for number in range(self.steps):
            end = time.thread_time() + self.cpu_s
            while time.thread_time() < end:
                order = sorted(range(len(self.lengths)), key=lambda k: abs(self.lengths[k] - number % 1000))
            yield order[:BATCH]


@program("data_in_driver")
def slow_sampler(truth, options):
    """A worker is quick, but the sampler, which runs in the loop's own thread, needs 30 ms for a batch; step 10 ms: 75 %."""
    steps = epoch_steps(options, 0.04)
    source = DataLoader(Samples(4000, Nothing()), batch_sampler=ByLength(steps, 0.03), num_workers=1, multiprocessing_context="fork",
                        persistent_workers=True)
    loop(truth, options, lambda: source, 0.01)


@program("checkpoint", planted="checkpoint_ns")
def checkpoint_thread(truth, options):
    """After each ten steps of 20 ms a thread begins to write a checkpoint, which takes it 0.4 s, and the loop first waits for the thread
    that wrote the last one: 0.2 s, 50 %."""
    writers = []

    def after(number):
        if number % 10 == 0:
            with truth.span("checkpoint_ns"):
                for writer in writers:
                    writer.join()
            writers[:] = [threading.Thread(target=work.checkpoint, args=(options.data, 0.4))]
            writers[0].start()
    source = loader(epoch_steps(options, 0.04), Nothing())
    loop(truth, options, lambda: source, 0.02, after)
    for writer in writers:
        writer.join()


@program("logging", planted="logging_ns")
def append_log(truth, options):
    """20 ms of lines after each step of 20 ms, for each of which the log is opened, flushed to the device and closed: 50 %."""
    path = os.path.join(options.data, "appended.txt")

    def after(number):
        with truth.span("logging_ns"):
            end = time.perf_counter() + 0.02
            while time.perf_counter() < end:
                with open(path, "a", encoding="utf8") as file:
                    file.write(f"{number} 0.5\n")
                    file.flush()
                    os.fsync(file.fileno())
    source = loader(epoch_steps(options, 0.04), Nothing())
    loop(truth, options, lambda: source, 0.02, after)


if __name__ == "__main__":
    main(__doc__)
