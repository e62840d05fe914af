# SPDX-License-Identifier: Apache-2.0
"""Tells from the instruction address of a system call (strace -i) whether libc's syscall() made it: a call by number,
which goes past every function that could be hooked."""

import ctypes
from functools import cache

# The instruction stands near the start of a function. Pages keep their place within a mapping, so a base is a multiple.
PAGE_BYTES, FUNCTION_BYTES = 4096, 64


@cache
def libc():
    return ctypes.CDLL("libc.so.6")


@cache
def offset_in_libc(function):
    """Of an exported function, from the start of libc's mapping."""
    address = ctypes.cast(getattr(libc(), function), ctypes.c_void_p).value
    with open("/proc/self/maps", encoding="utf-8") as maps:
        starts = [int(line.split("-")[0], 16) for line in maps if "/libc.so.6" in line]
    return address - min(starts)


def base_of_libc(function, address):
    """Where libc is mapped in a process in which its exported `function` made a system call at `address`."""
    return (address - offset_in_libc(function)) // PAGE_BYTES * PAGE_BYTES


def is_syscall_function(base, address):
    return 0 <= address - base - offset_in_libc("syscall") < FUNCTION_BYTES
