# SPDX-License-Identifier: Apache-2.0
"""Processes that begin in bursts and end, more than there are slots for their counts: 64 rules leave room for 32 processes at a time."""

SLOTS, EACH = 32, 14


def rules(size):
    return ("--place", f"size >= {size} -> default") * 64


def program(bursts, child, pause_s):
    """Forks EACH processes `bursts` times, each of which executes `child`; waits for them, and pauses."""
    return f"""
import os, time
for _ in range({bursts}):
    for _ in range({EACH}):
        if os.fork() == 0:
            {child}
            os._exit(0)
    for _ in range({EACH}): os.wait()
    time.sleep({pause_s})
"""
