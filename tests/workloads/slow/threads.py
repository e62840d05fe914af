#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainings with loaders of their own: threads, queues, pools, asyncio, processes over a pipe. Shares as in loaders.py."""

import asyncio
import concurrent.futures
import multiprocessing
import queue
import threading

import numpy

from truth import epoch_steps, main, program, train
import data
import work

DONE = object()


def ahead(pool, job, steps, depth=3):
    """Batches in order from a pool of threads that works a few ahead."""
    todo = [pool.submit(job, number) for number in range(min(depth, steps))]
    for number in range(depth, depth + steps):
        yield todo.pop(0).result()
        if number < steps:
            todo.append(pool.submit(job, number))


def on_pool(truth, options, workers, job, compute_s):
    steps = epoch_steps(options, 0.04)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        train(truth, options, lambda: ahead(pool, job, steps), lambda: work.compute(compute_s))


@program("data_transform_cpu")
def pool_zlib(truth, options):
    """One thread that compresses, without Python's lock, for 40 ms a batch; step 10 ms: 75 %."""
    on_pool(truth, options, 1, lambda number: work.squeeze(0.04), 0.01)


@program("data_device")
def pool_device(truth, options):
    """Two threads read past the page cache for 80 ms a batch; step 10 ms: 75 %."""
    path = data.shard(options.data)
    on_pool(truth, options, 2, lambda number: work.read_direct(path, number, 0.08), 0.01)


@program("data_lock")
def thread_lock(truth, options):
    """Four threads read through one reader with a lock around it (as HDF5 has one), 40 ms a batch, step 10 ms: 75 %."""
    path, lock = data.shard(options.data), threading.Lock()

    def job(number):
        with lock:
            work.read_direct(path, number, 0.04)
    on_pool(truth, options, 4, job, 0.01)


def filled(job, steps, depth=4):
    """Batches from one thread over a queue."""
    made = queue.Queue(depth)

    def fill():
        for number in range(steps):
            job(number)
            made.put(number)
        made.put(DONE)
    thread = threading.Thread(target=fill)
    thread.start()
    yield from iter(made.get, DONE)
    thread.join()


@program("data_device")
def prefetch_device(truth, options):
    """A thread ahead of the loop reads past the page cache for 40 ms a batch; step 10 ms: 75 %."""
    path, steps = data.shard(options.data), epoch_steps(options, 0.04)
    train(truth, options, lambda: filled(lambda number: work.read_direct(path, number, 0.04), steps), lambda: work.compute(0.01))


@program("data_device")
def chain(truth, options):
    """Reader (30 ms of the device), decoder (5 ms), loop (10 ms): threads with a queue between each: 67 %."""
    path, steps = data.shard(options.data), epoch_steps(options, 0.03)

    def decoded():
        made = queue.Queue(2)

        def decode():
            for _ in filled(lambda number: work.read_direct(path, number, 0.03), steps, depth=2):
                work.squeeze(0.005)
                made.put(0)
            made.put(DONE)
        thread = threading.Thread(target=decode)
        thread.start()
        yield from iter(made.get, DONE)
        thread.join()
    train(truth, options, decoded, lambda: work.compute(0.01))


def beyond_processor(truth, step_cpu_s):
    """What the steps took beyond their processor time."""
    return truth.sums["compute_ns"] - int(len(truth.steps) * step_cpu_s * 1e9)


@program("python_lock", planted="python_lock_ns")
def python_lock(truth, options):
    """A thread keeps statistics in Python all the time. Each product of the step gives Python's lock up and then waits 5 ms for it:
    a step that needs 20 ms of a processor takes three times as long."""
    stop, steps = threading.Event(), epoch_steps(options, 0.06)

    def statistics():
        while not stop.is_set():
            work.decode(0.1)
    thread = threading.Thread(target=statistics)
    thread.start()
    train(truth, options, lambda: range(steps), lambda: work.compute_cpu(0.02, work.LARGE))
    stop.set()
    thread.join()
    return {"python_lock_ns": beyond_processor(truth, 0.02)}


@program("python_lock", accept=["data_transform_cpu"], planted="python_lock_ns")
def pool_decode(truth, options):
    """A thread that decodes in Python for 40 ms a batch, and a step of 10 ms of a processor in a dozen products, each of which then waits up to
    5 ms for Python's lock: the loop lacks the lock for longer than it lacks a batch. Without the decoding it would lack neither."""
    steps = epoch_steps(options, 0.04)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        train(truth, options, lambda: ahead(pool, lambda number: work.decode(0.04), steps), lambda: work.compute_cpu(0.01, work.LARGE))
    return {"python_lock_ns": beyond_processor(truth, 0.01)}


def by_asyncio(truth, options, one, compute_s, opened=None):
    """Two requests a batch, at once, each with `one(number, link)`. The links are opened before the loop."""
    loop, steps = asyncio.new_event_loop(), epoch_steps(options, 0.04)

    async def links():
        return [await opened() for _ in range(2)] if opened else [None, None]
    both = loop.run_until_complete(links())

    async def batch(number):
        await asyncio.gather(*(one(2 * number + k, link) for k, link in enumerate(both)))
    train(truth, options, lambda: (loop.run_until_complete(batch(number)) for number in range(steps)),
          lambda: work.compute(compute_s))
    for link in both if opened else ():
        link[1].close()
    loop.close()


@program("data_device")
def aio_pool(truth, options):
    """asyncio hands reads of 30 ms to two threads; step 10 ms, nothing ahead: 75 %."""
    path = data.shard(options.data)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        async def one(number, link):
            await asyncio.get_running_loop().run_in_executor(pool, work.read_direct, path, number, 0.03)
        by_asyncio(truth, options, one, 0.01)


@program("data_remote")
def aio_remote(truth, options):
    """Two connections to a server that is no part of the run and answers after 20 ms; step 10 ms, nothing ahead: 67 %."""
    host, port = options.server.split(":")

    async def one(number, link):
        reader, writer = link
        writer.write(b"GET /object HTTP/1.1\r\nHost: store\r\n\r\n")
        header = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(header.lower().partition(b"content-length:")[2].split()[0]))
    by_asyncio(truth, options, one, 0.01, opened=lambda: asyncio.open_connection(host, int(port)))


@program("compute_bound", planted="compute_ns")
def ok_asyncio(truth, options):
    """The next batch, two reads of 4 ms by threads, is asked for before the step of 40 ms."""
    path, steps = data.shard(options.data), epoch_steps(options, 0.04)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def batch(number):
        for k in range(2):
            await loop.run_in_executor(None, work.read_direct, path, 2 * number + k, 0.004)

    def ready():
        following = asyncio.run_coroutine_threadsafe(batch(0), loop)
        for number in range(1, steps + 1):
            following.result()
            if number < steps:
                following = asyncio.run_coroutine_threadsafe(batch(number), loop)
            yield number
    train(truth, options, ready, lambda: work.compute(0.04))
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@program("compute_bound", planted="compute_ns")
def ok_prefetch(truth, options):
    """A thread ahead of the loop needs 8 ms for a batch, the step 40 ms."""
    path, steps = data.shard(options.data), epoch_steps(options, 0.04)
    train(truth, options, lambda: filled(lambda number: work.read_direct(path, number, 0.008), steps), lambda: work.compute(0.04))


def produce(pipe, stop):
    while not stop.is_set():
        work.decode(0.04)
        pipe.put(bytes(1024))
    pipe.put(None)


@program("data_transform_cpu")
def simplequeue_decode(truth, options):
    """A process of its own decodes for 40 ms a batch and sends it over a pipe; step 16 ms: 60 %."""
    context = multiprocessing.get_context("fork")
    pipe, stop, steps = context.SimpleQueue(), context.Event(), epoch_steps(options, 0.04)
    process = context.Process(target=produce, args=(pipe, stop))
    process.start()
    train(truth, options, lambda: (pipe.get() for _ in range(steps)), lambda: work.compute(0.016))
    stop.set()
    while pipe.get() is not None:
        pass
    process.join()


def inflate(number):
    work.squeeze(0.04)
    return number


@program("data_transform_cpu")
def imap_zlib(truth, options):
    """multiprocessing.Pool.imap with one process, 40 ms a batch; step 10 ms: 75 %."""
    steps = epoch_steps(options, 0.04)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        train(truth, options, lambda: pool.imap(inflate, range(steps)), lambda: work.compute(0.01))
        pool.close()
        pool.join()


ARRAY = numpy.ones(1 << 20, dtype=numpy.float64)


def array(number):
    return ARRAY


@program("data_serialisation")
def pool_arrays(truth, options):
    """The process has its array of 8 MiB at once, but it is pickled and sent through a pipe; step 10 ms."""
    steps = epoch_steps(options, 0.04)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        # Not imap: the pool would run ahead of the loop and fill the memory with arrays.
        train(truth, options, lambda: (pool.apply(array, (number,)) for number in range(steps)), lambda: work.compute(0.01))
        pool.close()
        pool.join()


if __name__ == "__main__":
    main(__doc__)
