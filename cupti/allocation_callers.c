// SPDX-License-Identifier: Apache-2.0
// Records the caller of each GPU allocation (--stacks). CUPTI reports an allocation later and on another thread, so the
// stack is taken in the call itself: this library precedes libcudart in symbol lookup order, as it precedes libcupti.
//
//   program, libtorch ──▶ cudaMalloc here ──▶ libcudart's
//                           └─ behind it: start, end, address, stack of the caller (MLRUN_GPU_CALLER)
//
// The merger finds the allocation by its address between start and end. Calls bound within one file are not seen: those
// of a program with libcudart linked in (nvcc's default), of libcudart itself, of the driver. They have CUPTI's program
// counter.
//
// The names have libcudart's own versions, hidden: only callers linked with libcudart reach them, and in a program
// without CUDA dlsym does not find them.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cupti/find_cupti.h"
#include "cupti/session.h"
#include "preload/base/compiler.h"

enum { kUnknownError = 999, kPlaces = 8, kUnits = 4 };

struct allocation {
  void *function;     // libcudart's
  uint64_t start_ns;  // 0: no stacks are recorded
};

// Cache of what a place in the program reaches. `change` is odd during a write; `gone` is the value of libraries_gone()
// at that write.
struct known_place {
  uint32_t change;
  const void *returns_to;
  void *function;
  uint64_t gone;
};

static void *recall(const struct known_place *place, const void *returns_to, uint64_t gone) {
  uint32_t before = __atomic_load_n(&place->change, __ATOMIC_ACQUIRE);
  bool is_it = __atomic_load_n(&place->returns_to, __ATOMIC_RELAXED) == returns_to;
  bool is_fresh = gone && __atomic_load_n(&place->gone, __ATOMIC_RELAXED) == gone;
  void *function = __atomic_load_n(&place->function, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  bool is_whole = !(before & 1) && __atomic_load_n(&place->change, __ATOMIC_RELAXED) == before;
  return is_it && is_fresh && is_whole ? function : NULL;
}

// A thread that finds a write under way does not cache its result.
static void keep(struct known_place *place, const void *returns_to, void *function, uint64_t gone) {
  uint32_t change = __atomic_load_n(&place->change, __ATOMIC_RELAXED);
  if (change & 1) return;
  if (!__atomic_compare_exchange_n(&place->change, &change, change + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&place->returns_to, returns_to, __ATOMIC_RELAXED);
  __atomic_store_n(&place->function, function, __ATOMIC_RELAXED);
  __atomic_store_n(&place->gone, gone, __ATOMIC_RELAXED);
  __atomic_store_n(&place->change, change + 2, __ATOMIC_RELEASE);
}

static struct allocation begin_allocation(struct known_place *places, const char *name, struct linked_caller caller) {
  struct known_place *place = &places[(uintptr_t)caller.returns_to / 4 % kPlaces];
  uint64_t gone = libraries_gone();
  struct allocation call = {recall(place, caller.returns_to, gone), 0};
  const struct mlrun_producer *producer = session_producer();
  if (!call.function) {
    call.function = linked_function_behind("libcudart.so", name, caller);
    if (call.function) keep(place, caller.returns_to, call.function, libraries_gone());
  }
  if (producer && producer->records_stacks() && (producer->streams() & MLRUN_STREAM_GPU))
    call.start_ns = producer->monotonic_ns();
  return call;
}

// Only if CUPTI reports allocations. Recording may have started inside the call.
static void end_allocation(const struct allocation *call, const struct mlrun_registers *caller, const void *address) {
  if (!call->start_ns || !address || __atomic_load_n(&session.state, __ATOMIC_ACQUIRE) != kRunning) return;
  const struct mlrun_producer *producer = session.producer;
  uint64_t end_ns = producer->monotonic_ns();
  __u64 now = producer->clock(), stack = 0;
  uint8_t lap;
  __u64 *w = now ? producer->reserve_at_stack(caller, kUnits * MLRUN_UNIT_BYTES, &stack, &lap) : NULL;
  if (!w) return;
  w[1] = now;
  w[2] = call->start_ns << 8;
  w[3] = end_ns;
  w[4] = 0;
  w[5] = (uintptr_t)address;
  w[6] = 0;
  w[7] = stack;
  compiler_barrier();
  *(volatile __u64 *)w = mlrun_word0(lap, kUnits, MLRUN_GPU_CALLER, 0);
}

// The registers of the caller of the function that has this frame.
#define REGISTERS(frame)                                                                   \
  (const struct mlrun_registers) {                                                         \
    .pc = ((const uint64_t *)(frame))[1], .sp = (uint64_t)((const uint64_t *)(frame) + 2), \
    .bp = ((const uint64_t *)(frame))[0]                                                   \
  }
#define ENTRY(name, major, version, parameters, arguments)                       \
  int caller_of_##name##_##major parameters;                                     \
  EXPORT int caller_of_##name##_##major parameters {                             \
    static struct known_place places[kPlaces];                                   \
    const struct linked_caller linked = {major, __builtin_return_address(0)};    \
    const struct allocation call = begin_allocation(places, #name, linked);      \
    union {                                                                      \
      void *address;                                                             \
      __typeof__(&caller_of_##name##_##major) function;                          \
    } real = {call.function};                                                    \
    if (!real.address) return kUnknownError;                                     \
    int answer = real.function arguments;                                        \
    const struct mlrun_registers caller = REGISTERS(__builtin_frame_address(0)); \
    end_allocation(&call, &caller, answer == 0 && address ? *address : NULL);    \
    return answer;                                                               \
  }                                                                              \
  __asm__(".symver caller_of_" #name "_" #major "," #name version)
#define ALLOCATOR(name, parameters, arguments)                \
  ENTRY(name, 12, "@libcudart.so.12", parameters, arguments); \
  ENTRY(name, 13, "@libcudart.so.13", parameters, arguments); \
  ENTRY(name, 14, "@libcudart.so.14", parameters, arguments)

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
