// SPDX-License-Identifier: Apache-2.0
#include "kprobes/libraries/observed_libraries.h"

#include "kprobes/bpf/shared.h"
#include "runner/events/cuda_calls.h"
#include "runner/events/cufile_calls.h"

namespace mlrun::probes {

namespace {

uint32_t cookie_of(uint16_t number, uint32_t reads) { return number | reads << MLRUN_LIBRARY_READS_SHIFT; }

}  // namespace

ObservedLibrary libcuda(const LibraryPrograms& programs) {
  ObservedLibrary library{kLibcuda, {kLibcuda}, {}, programs};
  for (const events::CudaCall& call : events::kCudaCalls) {
    const uint32_t stack = events::allocates(call.role) ? MLRUN_CUDA_EMITS_STACK : 0;
    library.calls.push_back(
        {call.number, call.name, cookie_of(call.number, call.reads | stack), events::may_be_detached(call.role)});
  }
  return library;
}

// Each call moves bytes of a file, so two breakpoints are a small cost: no function is dropped.
ObservedLibrary libcufile(const LibraryPrograms& programs) {
  ObservedLibrary library{kLibcufile, {kLibcufile}, {}, programs};
  for (const events::CufileCall& call : events::kCufileCalls) {
    if (call.role == events::CufileRole::kOperation) continue;
    library.calls.push_back({call.number, call.name, cookie_of(call.number, call.reads), false});
  }
  return library;
}

// Order and widths of arguments as in c10/cuda/CUDACachingAllocator.cpp since PyTorch 2.2: malloc(address, device,
// bytes, stream) after the allocation, free(address) before the release; `device` was an int before it became one byte.
// Builds for ROCm call the library libc10_hip. No function is dropped: the sums would be wrong.
ObservedLibrary torch_allocator(const LibraryPrograms& programs) {
  constexpr uint8_t kByteOrInt = 1 + 4, kLong = 8;
  return {kTorchAllocator,
          {"libc10_cuda", "libc10_hip"},
          {{MLRUN_TORCH_MALLOC, "malloc", 0, false, {kLong, kByteOrInt, kLong, kLong}},
           {MLRUN_TORCH_FREE, "free", 0, false, {kLong}}},
          programs,
          "pytorch"};
}

}  // namespace mlrun::probes
