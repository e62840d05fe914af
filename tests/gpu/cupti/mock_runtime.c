// SPDX-License-Identifier: Apache-2.0
// libcudart.so.12 and .13 without CUDA, as far as memory goes: hands out addresses, and has the mock libcuda report
// them to CUPTI. More than 1 TiB is refused.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "mock_cupti.h"

enum { kOutOfMemory = 2, kDevice = 3, kBlocksMax = 4096, kNoteBytes = 54321 };
static const uint64_t kBase = 0x7f1000000000, kBlockBytes = 4 << 20;
static size_t sizes[kBlocksMax];
static int blocks;

static void tell(const struct mock_work *work) {
  static mock_do to;
  void *cuda = to ? NULL : dlopen("libcuda.so.1", RTLD_NOW);
  if (!to && !cuda) abort();
  if (!to) to = (mock_do)dlsym(cuda, "mock_cuda_work");
  to(work);
}

static int allocate(void **address, size_t bytes, uint64_t pool) {
  int block = __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED);
  if (block >= kBlocksMax) abort();
  void *volatile note = malloc(kNoteBytes);  // libcudart allocates for itself too
  free(note);
  if (bytes > 1ull << 40) return kOutOfMemory;
  sizes[block] = bytes;
  *address = (void *)(uintptr_t)(kBase + (uint64_t)block * kBlockBytes);
  const struct mock_work work = {
      .memory = 1, .address = (uintptr_t)*address, .bytes = bytes, .memory_kind = kDevice, .pool = pool, .stream = 7};
  tell(&work);
  return 0;
}

int cudaMalloc(void **address, size_t bytes) { return allocate(address, bytes, 0); }
int cudaMallocAsync(void **address, size_t bytes, void *stream) {
  return allocate(address, bytes, stream ? 0 : 0x7e0000000000);
}
int cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate(address, *pitch * height, 0);
}
int cudaFree(void *address) {
  const struct mock_work work = {.memory = 2,
                                 .address = (uintptr_t)address,
                                 .bytes = sizes[((uintptr_t)address - kBase) / kBlockBytes],
                                 .memory_kind = kDevice,
                                 .stream = 7};
  tell(&work);
  return 0;
}
