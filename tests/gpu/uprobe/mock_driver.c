// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 without a GPU, for probes from outside: its exports take what CUDA's take, give addresses that are used
// again in the order of a stack, and refuse what is larger than its memory.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_OUT_OF_MEMORY = 2, kBlocks = 4096 };
static const uint64_t kFirst = 0x7f0000000000, kStep = 2 << 20, kMemory = 64ULL << 30;

static uint64_t blocks[kBlocks];  // bytes; 0: free
static int handles, contexts;
static void *current[64];
static int pushed;

static int allocate(uint64_t *address, size_t bytes) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > kMemory) return CUDA_ERROR_OUT_OF_MEMORY;
  for (int i = 0; i < kBlocks; i++) {
    uint64_t none = 0;
    if (!__atomic_compare_exchange_n(&blocks[i], &none, bytes, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
    *address = kFirst + (uint64_t)i * kStep;
    return 0;
  }
  return CUDA_ERROR_OUT_OF_MEMORY;
}

static int release(uint64_t address) {
  if (address == 0) return 0;
  uint64_t i = (address - kFirst) / kStep;
  if (address < kFirst || i >= kBlocks || !__atomic_exchange_n(&blocks[i], 0, __ATOMIC_SEQ_CST))
    return CUDA_ERROR_INVALID_VALUE;
  return 0;
}

int cuInit(unsigned flags) { return flags != 0; }

int cuMemAlloc_v2(uint64_t *address, size_t bytes) { return allocate(address, bytes); }
int cuMemAllocManaged(uint64_t *address, size_t bytes, unsigned flags) { return flags ? allocate(address, bytes) : 1; }
int cuMemAllocPitch_v2(uint64_t *address, size_t *pitch, size_t width, size_t height, unsigned element) {
  *pitch = (width + 511) / 512 * 512;
  return element ? allocate(address, *pitch * height) : 1;
}
int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream) { return stream ? allocate(address, bytes) : 1; }
int cuMemAllocAsync_ptsz(uint64_t *address, size_t bytes, void *stream) {
  return stream ? allocate(address, bytes) : 1;
}
int cuMemHostAlloc(void **address, size_t bytes, unsigned flags) {
  return flags > 7 ? CUDA_ERROR_INVALID_VALUE : allocate((uint64_t *)(void *)address, bytes);
}
// As a driver may do it: by another one of its own exports.
int cuMemAllocHost_v2(void **address, size_t bytes) { return cuMemHostAlloc(address, bytes, 0); }
int cuMemFree_v2(uint64_t address) { return release(address); }
int cuMemFreeAsync(uint64_t address, void *stream) { return stream ? release(address) : 1; }
int cuMemFreeAsync_ptsz(uint64_t address, void *stream) { return stream ? release(address) : 1; }
int cuMemFreeHost(void *address) { return release((uint64_t)(uintptr_t)address); }

int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, uint64_t flags) {
  if (bytes > kMemory) return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = 0x1000 + (uint64_t)__atomic_add_fetch(&handles, 1, __ATOMIC_SEQ_CST);
  return !properties || flags != 0;
}
int cuMemRelease(uint64_t handle) { return handle < 0x1000; }
int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
  return !address || !bytes || offset || handle < 0x1000 || flags;
}
int cuMemUnmap(uint64_t address, size_t bytes) { return !address || !bytes; }

static void *make_context(void) {
  return (void *)(uintptr_t)(0x5500000000 + 0x100 * (uint64_t)__atomic_add_fetch(&contexts, 1, __ATOMIC_SEQ_CST));
}
int cuCtxCreate_v2(void **context, unsigned flags, int device) {
  *context = make_context();
  current[pushed++ % 64] = *context;
  return flags != 0 || device < 0;
}
int cuCtxDestroy_v2(void *context) { return context ? 0 : CUDA_ERROR_INVALID_VALUE; }
int cuCtxSetCurrent(void *context) {
  current[0] = context;
  return 0;
}
int cuCtxPushCurrent_v2(void *context) {
  current[pushed++ % 64] = context;
  return 0;
}
int cuCtxPopCurrent_v2(void **context) {
  if (pushed == 0) return CUDA_ERROR_INVALID_VALUE;
  void *popped = current[--pushed % 64];
  if (context) *context = popped;
  return 0;
}
static void *primary;
int cuDevicePrimaryCtxRetain(void **context, int device) {
  if (!primary) primary = make_context();
  *context = primary;
  return device != 0;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return device != 0; }
int cuDevicePrimaryCtxReset_v2(int device) { return device != 0; }

int cuStreamSynchronize(void *stream) { return stream == NULL; }
int cuEventSynchronize(void *event) { return event == NULL; }
int cuCtxSynchronize(void) { return 0; }
int cuGraphLaunch(void *graph, void *stream) { return !graph || !stream; }
int cuGraphLaunch_ptsz(void *graph, void *stream) { return !graph || !stream; }
