# SPDX-License-Identifier: Apache-2.0
"""A program gets free, realloc and their like by the handle of libc, or of a library that depends on it (ctypes, cffi, JNA), and gives them placed
blocks and others. They do what the program's own do. Look-ups that depend on the caller find what they find untraced."""

from lib import case

CALLS = """
import ctypes
own, libc, libm = (ctypes.CDLL(name) for name in (None, "libc.so.6", "libm.so.6"))
size, at = ctypes.c_size_t, ctypes.c_void_p
for library in (own, libc, libm):
    library.malloc.restype = library.realloc.restype = library.reallocarray.restype = at
    library.malloc_usable_size.restype = size
own.dlvsym.restype = at
versioned = ctypes.CFUNCTYPE(None, at)(own.dlvsym(at(libc._handle), b"free", b"GLIBC_2.2.5"))
def filled(library, bytes):
    block = library.malloc(size(bytes))
    ctypes.memset(block, 7, bytes)
    return block
def holds(block, bytes):
    return ctypes.string_at(block, bytes) == bytes * b"\\7"
for library in (libc, libm):
    for bytes in (1000, 1 << 20):
        for source in (own, library):
            library.free(at(filled(source, bytes)))
            versioned(at(filled(source, bytes)))
            own.free(at(filled(library, bytes)))
            block = filled(source, bytes)
            print(library.malloc_usable_size(at(block)) >= bytes)
            for wanted in (3 * bytes, 5 * bytes, bytes):
                block = library.realloc(at(block), size(wanted))
                print(wanted, holds(block, bytes))
            block = library.reallocarray(at(block), size(2), size(bytes))
            print(holds(block, bytes))
            own.free(at(own.realloc(at(block), size(7 * bytes))))
        print(library.reallocarray(at(filled(own, bytes)), size(1 << 40), size(1 << 40)))
    library.free(None)
apart = ctypes.CDLL(APART)
apart.cfree(None)
apart.free_sized(None, size(0))
print("calls of a library's own:", ctypes.c_int.in_dll(apart, "calls").value)
try:
    libc.no_such_function
except AttributeError as error:
    print(str(error).partition(": ")[2])
"""


def check(this):
    for options in (("--place", "-> default"), ("--preload=off", "--place", "-> default")):
        trace = this.untraced_and_traced("/usr/bin/python3", "-c", f"APART = {this.victim('frees_apart.so')!r}\n" + CALLS, options=options)
        (process,) = trace.run["placement"]["processes"]
        this.true("blocks were placed", process["rules"][0]["matches"] > 10, process)
        this.untraced_and_traced(this.victim("looks_up"), this.victim("unloaded_one.so"), options=options)


if __name__ == "__main__":
    case.run(check)
