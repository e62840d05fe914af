# SPDX-License-Identifier: Apache-2.0
"""As much of PyTorch as the programs of ../../work_checks.py and ../../feature_checks.py use, on the mock CUDA and
CUPTI: operations launch kernels of their names, which take a microsecond; memory is kept as the caching allocator keeps it;
the profiler is mock_profiler.c, which takes CUPTI as PyTorch's does. FAKE_TORCH_PROFILER: that library.
Copies between tensors go through FAKE_TORCH_RUNTIME, a library that is linked with the mock libcudart.
FAKE_TORCH_FORGETS=1: the profiler omits the first kernel of each session, as one disturbed by mlrun would."""

import ctypes
import os
import types

KERNEL_NS, SEGMENT = 1000, 0x7F0000000000
DEVICE_MEMORY, ALLOCATION, RELEASE = 3, 1, 2
TO_DEVICE, FROM_DEVICE = 1, 2
uint8 = bfloat16 = None


class Work(ctypes.Structure):
    """struct mock_work."""

    _fields_ = [("kernel", ctypes.c_char_p), ("bytes", ctypes.c_uint64), ("is_driver_call", ctypes.c_int),
                ("device", ctypes.c_uint32), ("stream", ctypes.c_uint32), ("length_ns", ctypes.c_uint64),
                ("has_ended", ctypes.c_uint32), ("memory", ctypes.c_uint32), ("memory_kind", ctypes.c_uint32),
                ("address", ctypes.c_uint64), ("pool", ctypes.c_uint64), ("graph", ctypes.c_uint32), ("nodes", ctypes.c_uint32),
                ("site", ctypes.c_uint64), ("is_twin", ctypes.c_uint32), ("copy", ctypes.c_uint32),
                ("host_memory", ctypes.c_uint32)]


class State:
    """CUDA starts when the first tensor is made on the GPU; CUPTI is loaded with PyTorch, before that."""

    def __init__(self):
        self.profiler = ctypes.CDLL(os.environ["FAKE_TORCH_PROFILER"])
        self.driver, self.session, self.captured, self.segments, self.loaded = None, None, None, [], None

    def work(self, **what):
        if self.driver is None:
            self.driver = ctypes.CDLL("libcuda.so.1")
            self.driver.cuInit(0)
        self.driver.mock_cuda_work(ctypes.byref(Work(stream=7, **what)))

    def runtime(self):
        if self.loaded is None:
            self.loaded = ctypes.CDLL(os.environ["FAKE_TORCH_RUNTIME"])
            self.loaded.pin.restype = ctypes.c_void_p
        return self.loaded

    def launch(self, name):
        if self.captured is not None:
            self.captured += 1
            return
        if self.session is not None:
            self.session.append(name)
        self.work(kernel=INTERNED.setdefault(name, name.encode()), length_ns=KERNEL_NS)


INTERNED = {}  # CUPTI's records point to names: they have to stay
state = State()


class Tensor:
    def __init__(self, address=0, buffer=None):
        self.address, self.buffer = address, buffer

    def data_ptr(self):
        return self.address

    def pin_memory(self):
        return Tensor(state.runtime().pin(ctypes.c_size_t(len(self.buffer))), self.buffer) if self.buffer else self

    def copy_(self, other, **_how):
        to_device, size_bytes = other.buffer is not None, len(other.buffer or self.buffer)
        failures = state.runtime().copy(ctypes.c_void_p(self.address), ctypes.c_void_p(other.address), ctypes.c_size_t(size_bytes),
                                        TO_DEVICE if to_device else FROM_DEVICE)
        assert failures == 0
        return self

    def to(self, _device, **_how):
        state.work(bytes=4096)
        return self

    def run(self, name):
        state.launch(name)
        return self

    def __matmul__(self, other):
        return self.run("gemm")

    def clamp(self, *_bounds):
        return self.run("clamp")

    def add_(self, _number):
        return self.run("add")


def relu(tensor):
    return tensor.run("relu")


def zeros(*_shape, device=None):
    tensor = Tensor()
    return tensor.run("fill") if device else tensor


randn = zeros


def ones(size_bytes, **_how):
    buffer = ctypes.create_string_buffer(b"\1" * size_bytes, size_bytes)
    return Tensor(ctypes.addressof(buffer), buffer)


def empty(size_bytes, **_how):
    address = SEGMENT + len(state.segments) * (1 << 30)
    state.segments.append((address, size_bytes))
    state.work(memory=ALLOCATION, memory_kind=DEVICE_MEMORY, address=address, bytes=size_bytes)
    return Tensor(address)


def manual_seed(_seed):
    pass


def empty_cache():
    for address, size_bytes in state.segments:
        state.work(memory=RELEASE, memory_kind=DEVICE_MEMORY, address=address, bytes=size_bytes)


class CUDAGraph:
    nodes = 0

    def replay(self):
        state.work(kernel=INTERNED.setdefault("add", b"add"), graph=1, nodes=self.nodes, length_ns=KERNEL_NS)


class Capture:
    def __init__(self, graph):
        self.graph = graph

    def __enter__(self):
        state.captured = 0

    def __exit__(self, *_error):
        self.graph.nodes, state.captured = state.captured, None


class Profile:
    def __init__(self, activities):
        self.activities, self.reported = activities, []

    def __enter__(self):
        state.profiler.profiler_begin()
        state.session = self.reported
        return self

    def __exit__(self, *_error):
        state.profiler.profiler_end()
        state.session = None

    def events(self):
        reported = self.reported[1:] if os.environ.get("FAKE_TORCH_FORGETS") else self.reported
        time_range = types.SimpleNamespace(elapsed_us=lambda: KERNEL_NS / 1000)
        return [types.SimpleNamespace(name=name, device_type="cuda", time_range=time_range) for name in reported]


cuda = types.SimpleNamespace(is_available=lambda: True, synchronize=lambda: None, empty_cache=empty_cache, CUDAGraph=CUDAGraph,
                             graph=Capture)
profiler = types.SimpleNamespace(profile=Profile, ProfilerActivity=types.SimpleNamespace(CUDA="cuda"))
autograd = types.SimpleNamespace(DeviceType=types.SimpleNamespace(CUDA="cuda"))
