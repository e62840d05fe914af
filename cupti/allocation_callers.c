// SPDX-License-Identifier: Apache-2.0
// Records the caller's stack of each GPU allocation (--stacks). CUPTI reports an allocation later and on another
// thread, so the stack is taken in the call itself, by functions with the names of libcudart's: this library precedes
// libcudart in symbol lookup order, as it precedes libcupti.
//
//   program, libtorch ──▶ cudaMalloc here ──▶ libcudart's
//                           └─ then records start, end, address, stack of the caller (MLRUN_GPU_CALLER)
//
// The merger matches the record with CUPTI's, by the address and a time between start and end. Calls that are bound
// within one file do not come here: those of a program with libcudart linked statically (nvcc's default), of libcudart
// itself and of the driver. They have only the program counter that CUPTI reports.
//
// The functions have libcudart's symbol versions, as hidden (non-default) versions: only callers linked with libcudart
// reach them, and dlsym without a version does not find them in a program without CUDA.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/runtime_function.h"
#include "cupti/session.h"
#include "preload/base/compiler.h"

enum { kUnits = 4 };

// The time before the call; 0: no stacks are recorded.
static uint64_t begin_allocation(void) {
  const struct mlrun_producer *producer = session_producer();
  bool is_wanted = producer && producer->records_stacks() && (producer->streams() & MLRUN_STREAM_GPU);
  return is_wanted ? producer->monotonic_ns() : 0;
}

// Writes the record, if GPU work is recorded now: recording may have started inside the call.
static void end_allocation(uint64_t start_ns, const struct mlrun_registers *caller, const void *address) {
  if (!start_ns || !address || __atomic_load_n(&session.state, __ATOMIC_ACQUIRE) != kRunning) return;
  const struct mlrun_producer *producer = session.producer;
  uint64_t end_ns = producer->monotonic_ns();
  __u64 now = producer->clock(), stack = 0;
  uint8_t lap;
  __u64 *w = now ? producer->reserve_at_stack(caller, kUnits * MLRUN_UNIT_BYTES, &stack, &lap) : NULL;
  if (!w) return;
  w[1] = now;
  w[2] = start_ns << 8;
  w[3] = end_ns;
  w[4] = 0;
  w[5] = (uintptr_t)address;
  w[6] = 0;
  w[7] = stack;
  compiler_barrier();
  *(volatile __u64 *)w = mlrun_word0(lap, kUnits, MLRUN_GPU_CALLER, 0);
}

// The registers that the caller of a function has after the call. `frame`: address of the function's stack frame.
INLINE struct mlrun_registers registers_behind(const uint64_t *frame) {
  return (const struct mlrun_registers){.pc = frame[1], .sp = (uint64_t)(frame + 2), .bp = frame[0]};
}

#define ALLOCATE(name, major, arguments)                                                 \
  RUNTIME_REAL(name, major);                                                             \
  const uint64_t start_ns = begin_allocation();                                          \
  int answer = real.call arguments;                                                      \
  const struct mlrun_registers registers = registers_behind(__builtin_frame_address(0)); \
  end_allocation(start_ns, &registers, answer == 0 && address ? *address : NULL);        \
  return answer;
#define ALLOCATOR(name, parameters, arguments) LINKED_ENTRIES("libcudart", name, parameters, arguments, ALLOCATE)

ALLOCATOR(cudaMalloc, (void **address, size_t bytes), (address, bytes));
ALLOCATOR(cudaMallocPitch, (void **address, size_t *pitch, size_t width, size_t height),
          (address, pitch, width, height));
ALLOCATOR(cudaMallocManaged, (void **address, size_t bytes, unsigned flags), (address, bytes, flags));
ALLOCATOR(cudaMallocHost, (void **address, size_t bytes), (address, bytes));
ALLOCATOR(cudaHostAlloc, (void **address, size_t bytes, unsigned flags), (address, bytes, flags));
ALLOCATOR(cudaMallocAsync, (void **address, size_t bytes, void *stream), (address, bytes, stream));
ALLOCATOR(cudaMallocAsync_ptsz, (void **address, size_t bytes, void *stream), (address, bytes, stream));
ALLOCATOR(cudaMallocFromPoolAsync, (void **address, size_t bytes, void *pool, void *stream),
          (address, bytes, pool, stream));
ALLOCATOR(cudaMallocFromPoolAsync_ptsz, (void **address, size_t bytes, void *pool, void *stream),
          (address, bytes, pool, stream));
