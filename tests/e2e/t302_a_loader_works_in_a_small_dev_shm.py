# SPDX-License-Identifier: Apache-2.0
"""When PyTorch's loader workers fill a 64 MiB /dev/shm with tensors, the training runs as untraced: mlrun uses nothing
of /dev/shm."""

import sys

from lib import case, training

SMALL_SHM = 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"'
# Batches of 14 MiB, two of each of two workers in flight: 56 of the 64 MiB.
LOADER = """
import sys, torch
from torch.utils.data import DataLoader, Dataset
class Blocks(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index): return torch.full((7 << 18,), float(index))
loader = DataLoader(Blocks(), batch_size=2, num_workers=2, prefetch_factor=1)
print([float(batch.sum()) for batch in loader], len(sys.argv))
"""


def check(this):
    case.need_mounts()
    training.need_torch()
    wrapped = ("unshare", "-m", "/bin/sh", "-c", SMALL_SHM, "sh")
    plain = this.run(*wrapped, sys.executable, "-c", LOADER)
    this.equal("exit status untraced", plain.returncode, 0, said=plain.stderr)
    out = this.new_trace()
    traced = this.run(*wrapped, *this.command(sys.executable, "-c", LOADER, out=out))
    this.equal("exit status", traced.returncode, 0, said=traced.stderr)
    this.equal("output", traced.stdout, plain.stdout)


if __name__ == "__main__":
    case.run(check)
