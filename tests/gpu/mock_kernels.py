# SPDX-License-Identifier: Apache-2.0
"""Prologue of Python programs that launch kernels of the mock CUDA."""

MOCK_KERNELS = """
import ctypes

class Work(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_char_p), ("bytes", ctypes.c_uint64), ("is_driver_call", ctypes.c_int),
                ("device", ctypes.c_uint32), ("stream", ctypes.c_uint32), ("length_ns", ctypes.c_uint64),
                ("has_ended", ctypes.c_uint32), ("unused", ctypes.c_uint64 * 8)]

cuda = ctypes.CDLL("libcuda.so.1")
cuda.cuInit(0)

def launch(kernel, length_ns, has_ended=0):
    cuda.mock_cuda_work(ctypes.byref(Work(kernel, 0, 0, 0, 7, length_ns, has_ended)))
"""
