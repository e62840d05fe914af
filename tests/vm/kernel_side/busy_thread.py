#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs in the guest until it is killed: uses the remaining time of one processor, by a thread whose name and number differ from
its process's.

Usage: busy_thread.py CPU FILE   (FILE gets its processor, the two numbers and the name, when it does)"""

import os
import sys
import threading
from pathlib import Path

CPU, READY = int(sys.argv[1]), Path(sys.argv[2])


def keep_busy():
    os.sched_setaffinity(0, {CPU})
    os.nice(19)
    Path("/proc/thread-self/comm").write_text(f"busy_thread{CPU}")
    READY.write_text(f"{CPU} {os.getpid()} {threading.get_native_id()} busy_thread{CPU}\n")
    while True:
        pass


threading.Thread(target=keep_busy).start()
