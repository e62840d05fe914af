// SPDX-License-Identifier: Apache-2.0
// Merges a trace folder: spool.bin and session.json become tables/ and run.json. The spool is not modified.
//
// The trace is finished when run.json exists: it is written last, and removed first when a folder is merged again.
// Before that the tables are in a staging folder, so an interrupted merge leaves no partial trace.
#pragma once

#include <string>

#include "runner/summary/summary.h"
#include "runner/util/result.h"

namespace mlrun::trace {

struct MergeOptions {
  std::string trace_folder;
  unsigned threads = 0;        // 0: as many as the machine has processors, at most 8
  bool shows_progress = true;  // shows a progress line if standard error is a terminal
};

Result<summary::Summary> merge(const MergeOptions& options);

}  // namespace mlrun::trace
