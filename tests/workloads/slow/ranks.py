#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two ranks over gloo; the second computes longer, and the first, whose truth is printed, waits for it in each all_reduce.

By torch.distributed.run, or with --spawn by torch.multiprocessing.
"""

import argparse
import os
import socket

import torch
import torch.distributed
import torch.multiprocessing

import truth as clock
import work

STEP_S = 0.04
OF_RANK_S = (0.016, 0.040)  # the first waits 60 %


def train(options):
    torch.distributed.init_process_group("gloo")
    rank, gradient = torch.distributed.get_rank(), torch.zeros(1000)
    truth = clock.Truth("spawn_ranks" if options.spawn else "gloo_ranks", "rank_skew", planted="collective_ns")
    torch.distributed.barrier()
    truth.begin()
    for _ in truth.batches(lambda: range(max(4, int(options.seconds / STEP_S))), options.seconds, epochs=1):
        with truth.span("compute_ns"):
            work.compute(OF_RANK_S[rank])
        with truth.span("collective_ns"):
            torch.distributed.all_reduce(gradient)
    truth.end()
    if rank == 0:
        print(truth.line(), flush=True)
    torch.distributed.destroy_process_group()


def spawned(rank, options):
    os.environ.update(RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(options.port))
    train(options)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=24.0)
    parser.add_argument("--spawn", action="store_true")
    parser.add_argument("--data", help="not used")
    options = parser.parse_args()
    if options.spawn:
        with socket.create_server(("127.0.0.1", 0)) as free:
            options.port = free.getsockname()[1]
        torch.multiprocessing.spawn(spawned, (options,), nprocs=2)
    else:
        train(options)


if __name__ == "__main__":
    main()
