# SPDX-License-Identifier: Apache-2.0
"""Finds out from the instruction address of a system call (strace -i) whether libc made it."""

import ctypes
from functools import cache

# The instruction is near the start of a function. Mappings are page-aligned, so a base is a multiple of this.
PAGE_BYTES = 4096


@cache
def libc():
    return ctypes.CDLL("libc.so.6")


@cache
def mapping_of_libc():
    """(first, end) address here."""
    libc()
    with open("/proc/self/maps", encoding="utf-8") as maps:
        bounds = [line.split()[0].split("-") for line in maps if "/libc.so.6" in line]
    return min(int(first, 16) for first, _ in bounds), max(int(end, 16) for _, end in bounds)


def size_of_libc():
    first, end = mapping_of_libc()
    return end - first


@cache
def offset_in_libc(function):
    """Offset of an exported function from the start of libc's mapping."""
    address = ctypes.cast(getattr(libc(), function), ctypes.c_void_p).value
    return address - mapping_of_libc()[0]


def base_of_libc(function, address):
    """Where libc is mapped in a process in which its exported `function` made a system call at `address`."""
    return (address - offset_in_libc(function)) // PAGE_BYTES * PAGE_BYTES
