#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trainings whose loop itself is slow: the loader has its batches ready."""

import http.client
import os
import subprocess
import sys

import torch

from loaders import Decode, loader
from truth import epoch_steps, main, program, train
import work


@program("checkpoint", planted="checkpoint_ns")
def checkpoint(truth, options):
    """200 ms of flushed checkpoint after each ten steps of 20 ms: 50 %."""
    source = loader(epoch_steps(options, 0.04), Decode(0.001))

    def after(number):
        if number % 10 == 0:
            with truth.span("checkpoint_ns"):
                work.checkpoint(options.data, 0.2)
    train(truth, options, lambda: source, lambda: work.compute(0.02), after)


@program("logging", planted="logging_ns")
def logging(truth, options):
    """20 ms of log lines, each flushed to the device, after each step of 20 ms: 50 %."""
    source = loader(epoch_steps(options, 0.04), Decode(0.001))
    with open(os.path.join(options.data, "log.txt"), "a", encoding="utf8") as file:
        def after(number):
            with truth.span("logging_ns"):
                work.log(file, number, 0.02)
        train(truth, options, lambda: source, lambda: work.compute(0.02), after)


READER = "import os, time\nwhile os.read(0, 4096):\n    time.sleep(0.002)\n"


@program("logging", planted="logging_ns")
def slow_output(truth, options):
    """Its output goes to a pipe whose reader takes 4 KiB in 2 ms and a little. After each step of 20 ms it prints 80 KiB, which takes the
    reader 42 ms: it waits for 22 ms, 50 %."""
    source = loader(epoch_steps(options, 0.04), Decode(0.001))
    out = os.dup(1)
    reader = subprocess.Popen([sys.executable, "-c", READER], stdin=subprocess.PIPE)
    os.dup2(reader.stdin.fileno(), 1)

    def after(number):
        with truth.span("logging_ns"):
            for _ in range(160):
                print(f"step {number:6}", "loss 0.5000 " * 42, flush=True)
    train(truth, options, lambda: source, lambda: work.compute(0.02), after)
    os.dup2(out, 1)
    reader.kill()  # the worker has an end of its pipe, too
    reader.wait()


@program("remote_call", planted="logging_ns")
def metrics(truth, options):
    """After each step of 20 ms it tells a server how far it is, which answers after 20 ms: 50 %. The server is no part of the run."""
    source = loader(epoch_steps(options, 0.04), Decode(0.001))
    link = http.client.HTTPConnection(options.server)

    def after(number):
        with truth.span("logging_ns"):
            link.request("GET", f"/object?step={number}")
            link.getresponse().read()
    train(truth, options, lambda: source, lambda: work.compute(0.02), after)
    link.close()


@program("oversubscription", planted="run_queue_ns")
def oversubscription(truth, options):
    """Processes of this run keep all processors busy: twice as many as there are, so that a step which needs 20 ms of a processor takes
    60 ms or so. What it takes beyond its processor time is the run queue's: 60 %."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
    source = loader(epoch_steps(options, 0.06), Decode(0.0005))
    try:
        train(truth, options, lambda: source, lambda: work.compute_cpu(0.02))
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    return {"run_queue_ns": truth.sums["compute_ns"] - int(len(truth.steps) * 0.02e9)}


@program("allocation", planted="allocation_ns")
def allocation(truth, options):
    """Each step makes a new buffer of 128 MiB and fills it: libc maps one of this size afresh each time, and the kernel clears
    32,768 pages in page faults. 30 to 60 ms; the rest of the step is 15 ms."""
    source = loader(epoch_steps(options, 0.06), Decode(0.001))

    def step():
        with truth.span("allocation_ns"):
            torch.zeros(128 << 18).fill_(1.0)
        work.compute(0.015)
    train(truth, options, lambda: source, step)


@program("compute_bound", planted="compute_ns")
def ok_logger(truth, options):
    """A line of log after each step and a checkpoint of 50 ms in 100 steps of 80 ms: nothing to mend. A worker's batch costs the loop
    2 to 3 ms to receive: 3 %. Of steps of 40 ms that is more than the 5 % that make a finding."""
    source = loader(epoch_steps(options, 0.08), Decode(0.001))
    with open(os.path.join(options.data, "log.txt"), "a", encoding="utf8") as file:
        def after(number):
            with truth.span("logging_ns"):
                file.write(f"{number}\n")
            if number % 100 == 0:
                with truth.span("checkpoint_ns"):
                    work.checkpoint(options.data, 0.05)
        train(truth, options, lambda: source, lambda: work.compute(0.08), after)


if __name__ == "__main__":
    main(__doc__)
