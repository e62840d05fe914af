// SPDX-License-Identifier: Apache-2.0
// Answers "why is it slow" for one trace.
#pragma once

#include <cstdint>
#include <string>

#include "runner/findings/replay.h"
#include "runner/model/run.h"
#include "runner/summary/answer.h"
#include "runner/util/result.h"

namespace mlrun::findings {

struct AnswerOptions {
  int32_t driver_tid = 0;     // the driver's Linux thread id; 0: find the driver
  bool writes_tables = true;  // table `blame` is written
  bool has_rows = true;
  int64_t start_ns = 0, end_ns = 0;  // the span that is divided; both 0: the whole run
};

// `folder` contains tables/. The answer stays empty if no thread drives a training or the trace has no rows of calls (has_rows).
Status answer(const std::string& folder, const model::Run& run, const AnswerOptions& options, summary::Answer& out);

// Predicts how long the run would have taken with another loader. Fails if no thread drives a training, if the trace has no batches of a
// DataLoader with workers, if the number of workers is to change although they wait for each other at a lock, or if a replay of the
// unchanged run differs from its measured time by more than 5 %.
Result<Replayed> what_if(const std::string& folder, const model::Run& run, int32_t driver_tid, const WhatIf& change);

}  // namespace mlrun::findings
