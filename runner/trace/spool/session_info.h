// SPDX-License-Identifier: Apache-2.0
// What the merger takes from session.json (runner/launch/README.md). Every key may be missing or of another type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/events/spool.h"
#include "runner/util/json_value.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// What the kernel called a file that was open when the run began.
struct NamedInode {
  uint32_t device = 0;
  uint64_t inode = 0;
  std::string path;
};

struct SessionInfo {
  util::JsonValue all;
  mlrun_clock_kind clock_kind = MLRUN_CLOCK_TSC;
  std::vector<mlrun_frame_anchor> anchors;  // looks at the clocks at start and end
  std::vector<std::string> mllog;           // paths, absolute
  std::vector<NamedInode> standard_files;   // of the command's first three descriptors
  int64_t alloc_min_bytes = 1024;
  int64_t alloc_sample_bytes = 0;
  bool summary_only = false;         // nothing is listed
  int64_t fold_ns = 0;               // shorter calls have no row of their own
  int64_t start_ns = 0, end_ns = 0;  // of the command; 0: not told
  int64_t wait_status = -1;

  // The number under a JSON pointer; `otherwise` if there is none.
  [[nodiscard]] int64_t number(const char* pointer, int64_t otherwise) const;
  [[nodiscard]] std::string text(const char* pointer) const;
  // Whether it was to be recorded.
  [[nodiscard]] bool has_stream(const char* name) const;

  // Of processes that mlrun did not start (--pid, --cgroup, --system).
  [[nodiscard]] bool observes() const;

  // Fails when the folder has no session.json that is a JSON object.
  static Result<SessionInfo> read(const std::string& trace_folder);
};

}  // namespace mlrun::trace
