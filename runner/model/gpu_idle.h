// SPDX-License-Identifier: Apache-2.0
// Who made a GPU wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "runner/model/call_split.h"

namespace mlrun::model {

// What the thread that is to blame did meanwhile.
enum class IdleLabel : uint8_t {
  kCommunication,  // nothing on the CPU: a kernel of a communication library ran alone
  kLaunch,         // the call that launched what ends the gap had begun
  kFile,           // in a call on a file
  kSync,           // waited for the GPU
  kCuda,           // in another call of CUDA
  kWait,           // waited, and for whom is not known
  kCpu,            // on the processor, in no call that is recorded
  kRunQueue,       // could run, and another one did
  kUnknown         // nothing is recorded of the thread
};
inline constexpr std::array<std::string_view, 9> kIdleLabelNames = {
    "communication", "launch", "file", "synchronisation", "cuda", "waiting", "cpu", "run queue", "not known"};

// How one thread led to the next.
enum class IdleLink : uint8_t { kNone, kPipe, kWaker, kProcess, kSocket };
inline constexpr std::array<std::string_view, 5> kIdleLinkNames = {"none", "pipe", "waker", "process", "socket"};

// The table that has the row which proves what a piece says. kNothing: that there is none proves it.
enum class IdleProof : uint8_t { kNothing, kCall, kGpuApi, kGpuFile, kWait, kGpuKernel };
inline constexpr std::array<std::string_view, 6> kIdleProofNames = {"none",     "call", "gpu_api",
                                                                    "gpu_file", "wait", "gpu_kernel"};

// A piece of a gap. The pieces of a gap follow each other without a hole.
struct IdleRow {
  int64_t ts_ns = 0, dur_ns = 0;
  int64_t gap_id = 0;
  int32_t gpu_id = 0;
  IdleLabel label = IdleLabel::kUnknown;
  int32_t thread_id = 0;  // who is to blame; 0: not known
  int64_t call_id = 0;    // the call that proves it; 0: none
  int64_t file_id = 0;
  std::string_view func = {};  // of label kWait: that call's name, which stays; empty: in none
  IdleProof proof = IdleProof::kNothing;
  int64_t proof_ts_ns = 0;          // of that row; with the thread it names it
  int64_t first_call_id = 0;        // in which the thread that launched waited for the next one; 0: it did not
  int32_t hops = 0;                 // threads between the one that launched and this one
  IdleLink link = IdleLink::kNone;  // the last of them
  int32_t launch_thread_id = 0;     // who launched what ends the gap
  int64_t correlation = 0;
  int64_t mark_id = 0;             // the range in which that was launched; 0: none
  int32_t python_stack_id = 0;     // of label kCpu: of a look at the thread within the piece; 0: there was none
  int32_t python_frame_id = 0;     // the innermost frame of that stack
  std::optional<CallSplit> split;  // of label kFile: where this piece of the call's time went, as far as the call tells
};

}  // namespace mlrun::model
