# SPDX-License-Identifier: Apache-2.0
"""A loader whose workers are forked from a process that uses CUDA, as PyTorch's are; what they do is to hand over items."""

import multiprocessing


class DataLoader:
    def __init__(self, items, num_workers):
        self.items, self.num_workers = items, num_workers

    def __iter__(self):
        with multiprocessing.get_context("fork").Pool(self.num_workers) as workers:
            yield from workers.imap(abs, self.items)
