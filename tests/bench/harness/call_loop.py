# SPDX-License-Identifier: Apache-2.0
"""call_loop.py LIBRARY LOOP ITERATIONS THREADS CPUS DATA enters victims/measure.c, for tracers that start in Python."""

import ctypes
import sys

if __name__ == "__main__":
    arguments = [b"measure", *(argument.encode() for argument in sys.argv[2:])]
    vector = (ctypes.c_char_p * (len(arguments) + 1))(*arguments, None)
    sys.exit(ctypes.CDLL(sys.argv[1]).measure(len(arguments), vector))
