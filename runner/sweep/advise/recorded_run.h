// SPDX-License-Identifier: Apache-2.0
// What run.json of a trace has for advice: the command and the conditions of its runs, and whether the trace lists all blocks.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "runner/sweep/advise/experiment.h"
#include "runner/util/result.h"

namespace mlrun::sweep {

struct RecordedRun {
  RecordedCommand command;
  int64_t end_ns = 0;      // of the command; 0: unknown
  uint64_t min_bytes = 0;  // smallest block with a row of its own
  bool has_losses = false;
  // By mechanism of --access: the share of its samples that are in no listed block. Traces of older versions have none.
  std::map<std::string, double> outside;
};

// Fails for a trace of several nodes, without a command, or that does not list when every block was alive.
Result<RecordedRun> read_recorded_run(const std::string& trace);

// Lines about what may be missing in the trace: losses, the end of a command that failed. Empty: nothing.
std::string missing_text(const RecordedRun& recorded);

}  // namespace mlrun::sweep
