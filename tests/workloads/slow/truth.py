# SPDX-License-Identifier: Apache-2.0
"""The clock of a training with a planted cause: it measures its own loop and prints one line of JSON at the end.

    begin ─ open the loader, wait (first_batch_ns) ─ step ─ wait ─ step ─ … ─ last next() (loader_end_ns) ─ end
                                                     └ compute_ns, checkpoint_ns, logging_ns

without_batch_ns   the loop has no batch and waits, receives or runs the loader's code: opening the loader and next(), with the
                   first batch (first_batch_ns of it), without the next() that finds no batch any more
loader_end_ns      that next() of each epoch and the destruction of the iterator: the loader shuts down
step_begin_ns      when each step's batch was there
imports_ns         from the start of the process to the end of its imports

All of CLOCK_MONOTONIC, in nanoseconds. The sums are parts of the loop and do not overlap.
"""

import argparse
import contextlib
import itertools
import json
import os
import time

now = time.monotonic_ns
PROGRAMS = {}
SUMS = ("without_batch_ns", "compute_ns", "checkpoint_ns", "logging_ns", "loader_end_ns")


def process_began_ns():
    """The kernel has it in ticks of CLOCK_BOOTTIME."""
    with open("/proc/self/stat", encoding="utf8") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    asleep = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - now()
    return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK") - asleep


class Truth:
    """expect: the cause that must come first; accept: others that are as true; then: causes that must follow, in this order.
    planted: the sum of the truth that the cause is a part of."""

    def __init__(self, program, expect, accept=(), then=(), planted="without_batch_ns"):
        self.facts = {"truth": program, "expect": expect, "accept": list(accept), "then": list(then), "planted": planted,
                      "process_began_ns": process_began_ns()}
        self.facts["imports_ns"] = now() - self.facts["process_began_ns"]
        self.sums = dict.fromkeys((*SUMS, "first_batch_ns"), 0)
        self.steps = []

    def begin(self):
        self.facts["begin_ns"] = now()

    def end(self):
        self.facts["end_ns"] = now()

    @contextlib.contextmanager
    def span(self, name):
        began = now()
        yield
        self.sums[name] = self.sums.get(name, 0) + now() - began

    def passed(self, seconds):
        return now() - self.facts["begin_ns"] >= seconds * 1e9

    def got(self, asked):
        """A batch is there, which the loop asked for at that moment."""
        here = now()
        self.sums["without_batch_ns"] += here - asked
        if not self.steps:
            self.sums["first_batch_ns"] = here - asked
        self.steps.append(here)

    def batches(self, open_epoch, seconds, epochs=None):
        """Batches of so many epochs, or else of two or more until the loop has run for so long: an epoch is never cut short."""
        for epoch in itertools.count(1):
            began = now()
            source = iter(open_epoch())
            while True:
                try:
                    batch = next(source)
                except StopIteration:
                    break
                self.got(began)
                yield batch
                del batch
                began = now()
            del source
            self.sums["loader_end_ns"] += now() - began
            if epoch == epochs or (epochs is None and epoch > 1 and self.passed(seconds)):
                return

    def order(self, faults):
        """Of several faults the largest must come first, by what the loop has measured: on a busy machine it need not be the designed one."""
        causes = sorted(faults, key=faults.get, reverse=True)
        if causes[0] != self.facts["expect"]:
            self.facts["accept"] = []
        self.facts |= {"expect": causes[0], "then": causes[1:], "faults_ns": faults}

    def line(self, **more):
        return json.dumps({**self.facts, "loop_ns": self.facts["end_ns"] - self.facts["begin_ns"], **self.sums, **more,
                           "steps": len(self.steps), "step_begin_ns": self.steps})


def train(truth, options, open_epoch, step, after=None, epochs=None):
    """after(number): what the loop does between a step and its next batch."""
    truth.begin()
    for _ in truth.batches(open_epoch, options.seconds, epochs):
        with truth.span("compute_ns"):
            step()
        if after:
            after(len(truth.steps))
    truth.end()


def program(expect, accept=(), then=(), planted="without_batch_ns"):
    """A function of (truth, options) becomes the program of its name; what it returns is added to its truth."""
    def keep(function):
        PROGRAMS[function.__name__] = (function, expect, accept, then, planted)
        return function
    return keep


def epoch_steps(options, step_s, epoch_s=4.0):
    """How many steps of this length an epoch has: in a short run there are several epochs, too."""
    return max(4, int(min(epoch_s, options.seconds / 2) / step_s))


def main(about):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--data", required=True, help="folder for its data, on a disk; made if it is not there")
    parser.add_argument("--seconds", type=float, default=24.0, help="the loop ends with the first epoch after this long (default: 24)")
    parser.add_argument("--server", help="HOST:PORT of server.py, for those that load from one")
    options = parser.parse_args()
    function, *design = PROGRAMS[options.program]
    truth = Truth(options.program, *design)
    more = function(truth, options) or {}
    print(truth.line(**more), flush=True)
