// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/file_call_gaps.h"

#include <cstdint>

#include <fmt/format.h>

#include "runner/events/unseen.h"

namespace mlrun::trace {

namespace {

constexpr const char* kOtherNumbers =
    "the system calls of 32-bit programs may include some, but are only counted and have no rows; "
    "kernel: number of these calls that may be on a file";

}  // namespace

bool recorded_by_system_calls(const model::Run& session) {
  return session.kernel_side.attached_by("file operations") == "tracepoint";
}

void add_file_call_gaps(const model::Run& session, model::TraceInfo& info) {
  if (!recorded_by_system_calls(session)) return;
  info.coverage.push_back(
      {0, "operations on files without a system call of their own",
       fmt::format("file operations were recorded by system calls, so these have no row: {}; their reads "
                   "from devices are in the table block_part",
                   MLRUN_NO_FILE_CALLS),
       -1, -1});
  const int64_t unseen = session.kernel_side.unseen_32bit_calls;
  if (unseen > 0) info.coverage.push_back({0, "operations on files", kOtherNumbers, -1, unseen});
}

}  // namespace mlrun::trace
