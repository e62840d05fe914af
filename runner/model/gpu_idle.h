// SPDX-License-Identifier: Apache-2.0
// Pieces of GPU idle time, each with its cause.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runner/model/call_split.h"

namespace mlrun::model {

// What the responsible thread did during the piece.
enum class IdleLabel : uint8_t {
  kCommunication,  // no thread: a communication kernel ran alone
  kLaunch,         // the call that launched the operation which ended the gap had begun
  kFile,           // in a call on a file
  kSync,           // waiting for the GPU
  kCuda,           // in another call of CUDA
  kWait,           // waiting, not for a known thread
  kCpu,            // on a processor, in no recorded call
  kRunQueue,       // runnable, while another thread ran
  kUnknown         // no recording covers the thread
};
inline constexpr std::array<std::string_view, 9> kIdleLabelNames = {
    "communication", "launch", "file", "synchronisation", "cuda", "waiting", "cpu", "run queue", "unknown"};

// How the chain of waits led from one thread to the next.
enum class IdleLink : uint8_t { kNone, kPipe, kWaker, kProcess, kSocket };
inline constexpr std::array<std::string_view, 5> kIdleLinkNames = {"none", "pipe", "waker", "process", "socket"};

// The table whose row proves the piece. kNothing: proved by the absence of a row.
enum class IdleProof : uint8_t { kNothing, kCall, kGpuApi, kGpuFile, kWait, kGpuKernel };
inline constexpr std::array<std::string_view, 6> kIdleProofNames = {"none",     "call", "gpu_api",
                                                                    "gpu_file", "wait", "gpu_kernel"};

// A piece of a gap. The pieces of a gap are contiguous.
struct IdleRow {
  int64_t ts_ns = 0, dur_ns = 0;
  int64_t gap_id = 0;
  int32_t gpu_id = 0;
  IdleLabel label = IdleLabel::kUnknown;
  int32_t thread_id = 0;  // the responsible thread; 0: unknown
  int64_t call_id = 0;    // the call that proves the piece; 0: none
  int64_t file_id = 0;
  std::string_view func = {};  // label kWait: name of the call `call_id`, a static string; empty: no call
  IdleProof proof = IdleProof::kNothing;
  int64_t proof_ts_ns = 0;    // time of the proving row; with the thread it identifies the row
  int64_t first_call_id = 0;  // the call in which the launching thread waited for the next one; 0: it did not wait
  int32_t hops = 0;           // threads between the launching thread and this one
  IdleLink link = IdleLink::kNone;  // how the last hop was found
  int32_t launch_thread_id = 0;     // the thread that launched the operation ending the gap
  int64_t correlation = 0;
  int64_t mark_id = 0;             // the range (mark) in which that operation was launched; 0: none
  int32_t python_stack_id = 0;     // label kCpu: from a stack sample of the thread in the piece; 0: no sample
  int32_t python_frame_id = 0;     // the innermost frame of that stack
  std::optional<CallSplit> split;  // label kFile: how this piece of the call's time divides, as far as known
};

}  // namespace mlrun::model
