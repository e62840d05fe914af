// SPDX-License-Identifier: Apache-2.0
// The end of a run: mlrun-trace turns the spool into the trace and prints the summary.
#pragma once

#include <string>

#include "runner/util/result.h"

namespace mlrun::launch {

struct MergeOptions {
  std::string trace_program;
  std::string trace_folder;
  bool quiet = false;
  bool keep_raw = false;
};

// Runs mlrun-trace and waits. On success the raw events (unless keep_raw) and session.json are removed. On failure, and
// when a signal ended it, everything is kept and the error says how to resume.
Status merge(const MergeOptions& options);

}  // namespace mlrun::launch
