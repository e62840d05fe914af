// SPDX-License-Identifier: Apache-2.0
// Exports of libcuda that are probed from outside (struct mlrun_cuda_call), and their arguments. Only rare calls: a
// probe costs microseconds, so launches of kernels and copies are not probed. The signatures are those of cuda.h; a
// changed signature has another name (_v2), and _ptsz is the same call for programs with a default stream per thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "runner/events/kernel_record.h"

namespace mlrun::events {

enum class CudaRole : uint8_t {
  kAllocate,         // (address *, bytes, ...)
  kAllocatePitched,  // (address *, pitch *, width, height, ...)
  kFree,             // (address, ...)
  kCreate,           // (handle *, bytes, properties *, ...): memory without an address
  kRetain,           // (handle *, address): one more reference to release
  kRelease,          // (handle)
  kMap,              // (address, bytes, offset, handle, ...)
  kUnmap,            // (address, bytes)
  kMakeContext,      // (context *, ...), and makes it the thread's current one
  kDestroyContext,   // (context)
  kSetContext,       // (context): the thread's current one from now on
  kPushContext,      // (context)
  kPopContext,       // (context *)
  kRetainPrimary,    // (context *, device)
  kReleasePrimary,   // (device)
  kResetPrimary,     // (device)
  kSync,             // waits for the GPU
  kOther
};

// CUPTI's numbers, as in gpu_memory.memory and gpu_sync.kind.
enum : uint8_t { kCudaPinned = 2, kCudaDevice = 3, kCudaManaged = 5 };
enum : uint8_t { kCudaEventSync = 1, kCudaStreamSync = 3, kCudaContextSync = 4 };

struct CudaCall {
  uint16_t number;  // never reused
  std::string_view name;
  CudaRole role;
  uint8_t detail = 0;  // of an allocation: kind of memory; kSync: what it waits for
  uint32_t reads = 0;  // enum mlrun_cuda_reads
  bool is_async = false;
};

inline constexpr std::array<CudaCall, 36> kCudaCalls = {{
    {1, "cuMemAlloc_v2", CudaRole::kAllocate, kCudaDevice, MLRUN_CUDA_READS_FIRST},
    {2, "cuMemAllocManaged", CudaRole::kAllocate, kCudaManaged, MLRUN_CUDA_READS_FIRST},
    {3, "cuMemAllocPitch_v2", CudaRole::kAllocatePitched, kCudaDevice,
     MLRUN_CUDA_READS_FIRST | MLRUN_CUDA_READS_SECOND},
    {4, "cuMemAllocAsync", CudaRole::kAllocate, kCudaDevice, MLRUN_CUDA_READS_FIRST, true},
    {5, "cuMemAllocAsync_ptsz", CudaRole::kAllocate, kCudaDevice, MLRUN_CUDA_READS_FIRST, true},
    {6, "cuMemAllocFromPoolAsync", CudaRole::kAllocate, kCudaDevice, MLRUN_CUDA_READS_FIRST, true},
    {7, "cuMemAllocFromPoolAsync_ptsz", CudaRole::kAllocate, kCudaDevice, MLRUN_CUDA_READS_FIRST, true},
    {8, "cuMemHostAlloc", CudaRole::kAllocate, kCudaPinned, MLRUN_CUDA_READS_FIRST},
    {9, "cuMemAllocHost_v2", CudaRole::kAllocate, kCudaPinned, MLRUN_CUDA_READS_FIRST},
    {10, "cuMemFree_v2", CudaRole::kFree, kCudaDevice},
    {11, "cuMemFreeAsync", CudaRole::kFree, kCudaDevice, 0, true},
    {12, "cuMemFreeAsync_ptsz", CudaRole::kFree, kCudaDevice, 0, true},
    {13, "cuMemFreeHost", CudaRole::kFree, kCudaPinned},
    {14, "cuMemCreate", CudaRole::kCreate, kCudaDevice, MLRUN_CUDA_READS_FIRST | MLRUN_CUDA_READS_LOCATION},
    {15, "cuMemRelease", CudaRole::kRelease, kCudaDevice},
    {16, "cuMemMap", CudaRole::kMap},
    {17, "cuMemUnmap", CudaRole::kUnmap},
    {18, "cuMemRetainAllocationHandle", CudaRole::kRetain, 0, MLRUN_CUDA_READS_FIRST},
    {20, "cuCtxCreate_v2", CudaRole::kMakeContext, 0, MLRUN_CUDA_READS_FIRST},
    {21, "cuCtxCreate_v3", CudaRole::kMakeContext, 0, MLRUN_CUDA_READS_FIRST},
    {22, "cuCtxCreate_v4", CudaRole::kMakeContext, 0, MLRUN_CUDA_READS_FIRST},
    {23, "cuCtxDestroy_v2", CudaRole::kDestroyContext},
    {24, "cuCtxSetCurrent", CudaRole::kSetContext},
    {25, "cuCtxPushCurrent_v2", CudaRole::kPushContext},
    {26, "cuCtxPopCurrent_v2", CudaRole::kPopContext},
    {27, "cuDevicePrimaryCtxRetain", CudaRole::kRetainPrimary, 0, MLRUN_CUDA_READS_FIRST},
    {28, "cuDevicePrimaryCtxRelease_v2", CudaRole::kReleasePrimary},
    {29, "cuDevicePrimaryCtxReset_v2", CudaRole::kResetPrimary},
    {30, "cuStreamSynchronize", CudaRole::kSync, kCudaStreamSync},
    {31, "cuStreamSynchronize_ptsz", CudaRole::kSync, kCudaStreamSync},
    {32, "cuCtxSynchronize", CudaRole::kSync, kCudaContextSync},
    {33, "cuCtxSynchronize_v2", CudaRole::kSync, kCudaContextSync},
    {34, "cuEventSynchronize", CudaRole::kSync, kCudaEventSync},
    {40, "cuGraphLaunch", CudaRole::kOther},
    {41, "cuGraphLaunch_ptsz", CudaRole::kOther},
    {42, "cuInit", CudaRole::kOther},
}};

// Allocates memory: with --stacks the caller's stack is recorded.
[[nodiscard]] inline bool allocates(CudaRole role) {
  return role == CudaRole::kAllocate || role == CudaRole::kAllocatePitched || role == CudaRole::kCreate;
}

// nullptr: a call that only later versions of mlrun know.
[[nodiscard]] inline const CudaCall* cuda_call_of(uint32_t number) {
  for (const CudaCall& call : kCudaCalls) {
    if (call.number == number) return &call;
  }
  return nullptr;
}

// Whether such a call loses its probe if it is too frequent, since the probe would slow the process. Calls that allocate,
// free or map memory, or make or destroy a context, always keep theirs.
[[nodiscard]] inline bool may_be_detached(CudaRole role) {
  return role == CudaRole::kSync || role == CudaRole::kOther || role == CudaRole::kSetContext ||
         role == CudaRole::kPushContext || role == CudaRole::kPopContext;
}

}  // namespace mlrun::events
