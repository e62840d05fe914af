// SPDX-License-Identifier: Apache-2.0
// session.json, from which a merge makes run.json, and what the merger derives from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/events/spool.h"
#include "runner/model/run.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// A file that was open when the run began, with its name from the kernel.
struct NamedInode {
  uint32_t device = 0;
  uint64_t inode = 0;
  std::string path;
};

struct SessionInfo {
  model::Run run;
  mlrun_clock_kind clock_kind = MLRUN_CLOCK_TSC;
  std::vector<mlrun_frame_anchor> anchors;  // clock readings at start and end
  std::vector<std::string> mllog;           // paths, absolute
  std::vector<NamedInode> standard_files;   // of the command's first three descriptors
  int64_t alloc_sample_bytes = 0;
  int64_t fold_ns = 0;               // calls shorter than this have no row; 0: all have one
  int64_t start_ns = 0, end_ns = 0;  // of the command; 0: unknown

  // Fails if the folder has no session.json, or it is not a JSON object.
  static Result<SessionInfo> read(const std::string& trace_folder);
};

}  // namespace mlrun::trace
