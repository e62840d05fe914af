# SPDX-License-Identifier: Apache-2.0
"""Shared by cases of the kernel side: whether it works here, when mlrun observes, and a file on a block device."""

import os
import subprocess

from lib.case import BUILD, Skip
from lib.killed_collector import wait_for

PROBES = BUILD / "bin" / "mlrun-probes"
FIRST_PID_NAMESPACE = 0xEFFFFFFC  # the kernel's fixed number of it

WORKS, WORKS_PARTLY = 0, 2  # exit statuses of the check


def works():
    return subprocess.run([PROBES, "check"], capture_output=True, check=False).returncode in (WORKS, WORKS_PARTLY)


def need_kernel_side():
    done = subprocess.run([PROBES, "check"], capture_output=True, text=True, check=False)
    if done.returncode not in (WORKS, WORKS_PARTLY):
        raise Skip(done.stdout.strip())


def is_in_container():
    """Whether this process is in a PID namespace other than the first, where --system is refused."""
    return os.stat("/proc/self/ns/pid").st_ino != FIRST_PID_NAMESPACE


def wait_until_observing(mlrun, said):
    """`said`: the file that has its stderr. Raises when it ends before."""
    wait_for(lambda: "observing" in said.read_text() or mlrun.poll() is not None, 60)
    if mlrun.poll() is not None:
        raise AssertionError(f"mlrun ended with {mlrun.poll()} instead of observing: {said.read_text()}")


def need_block_device(folder):
    """Requires a file system on its own device: memory and overlays have no block I/O."""
    device = os.stat(folder).st_dev
    if os.major(device) == 0:
        raise Skip(f"{folder} lies on no block device")
    return device
