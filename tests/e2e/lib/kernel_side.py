# SPDX-License-Identifier: Apache-2.0
"""Shared by cases of the kernel side: whether it works here, and a file on a block device."""

import os
import subprocess

from lib.case import BUILD, Skip

PROBES = BUILD / "bin" / "mlrun-probes"


WORKS, WORKS_PARTLY = 0, 2  # exit statuses of the check


def works():
    return subprocess.run([PROBES, "check"], capture_output=True, check=False).returncode in (WORKS, WORKS_PARTLY)


def need_kernel_side():
    done = subprocess.run([PROBES, "check"], capture_output=True, text=True, check=False)
    if done.returncode not in (WORKS, WORKS_PARTLY):
        raise Skip(done.stdout.strip())


def need_block_device(folder):
    """Requires a file system on its own device: memory and overlays have no block I/O."""
    device = os.stat(folder).st_dev
    if os.major(device) == 0:
        raise Skip(f"{folder} lies on no block device")
    return device
