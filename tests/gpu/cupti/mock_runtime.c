// SPDX-License-Identifier: Apache-2.0
// libcudart.so.12 and .13 without CUDA, as far as memory goes: hands out addresses, copies, and has the mock libcuda
// report that to CUPTI. More than 1 TiB is refused. A copy to the host writes its target, as CUDA's does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mock_cupti.h"

enum { kPageable = 1, kPinned = 2 };  // CUPTI's kinds of memory
enum { kToDevice = 1, kFromDevice = 2, kByAddress = 4 };
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

static struct {
  char *at;
  size_t bytes;
} pinned[kBlocksMax];
static int pinned_blocks;

static int is_pinned(const void *address) {
  for (int i = 0; i < pinned_blocks; i++)
    if ((const char *)address >= pinned[i].at && (const char *)address < pinned[i].at + pinned[i].bytes) return 1;
  return 0;
}
static int is_of_device(const void *address) {
  return (uintptr_t)address >= kBase && (uintptr_t)address < kBase + kBlocksMax * kBlockBytes;
}

int cudaMallocHost(void **address, size_t bytes) {
  if (pinned_blocks == kBlocksMax) abort();
  void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (block == MAP_FAILED) return kOutOfMemory;
  pinned[pinned_blocks].at = *address = block;
  pinned[pinned_blocks++].bytes = bytes;
  const struct mock_work work = {
      .memory = 1, .address = (uintptr_t)block, .bytes = bytes, .memory_kind = kPinned, .stream = 7};
  tell(&work);
  return 0;
}

static int copy_rows(char *target, size_t target_pitch, const void *source, size_t width, size_t height, int kind) {
  if (kind == kByAddress) kind = is_of_device(target) ? kToDevice : kFromDevice;
  const void *host = kind == kToDevice ? source : target;
  for (size_t row = 0; kind == kFromDevice && row < height; row++) memset(target + row * target_pitch, 1, width);
  const struct mock_work work = {.copy = (uint32_t)kind,
                                 .bytes = width * height,
                                 .host_memory = is_pinned(host) ? kPinned : kPageable,
                                 .stream = 7};
  if (kind == kToDevice || kind == kFromDevice) tell(&work);
  return 0;
}
int cudaMemcpy(void *target, const void *source, size_t bytes, int kind) {
  return copy_rows(target, bytes, source, bytes, 1, kind);
}
int cudaMemcpyAsync(void *target, const void *source, size_t bytes, int kind, void *stream) {
  (void)stream;
  return copy_rows(target, bytes, source, bytes, 1, kind);
}
int cudaMemcpy2D(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width,
                 size_t height, int kind) {
  (void)source_pitch;
  return copy_rows(target, target_pitch, source, width, height, kind);
}
