// SPDX-License-Identifier: Apache-2.0
// The answer to "why is it slow" for one trace.
#pragma once

#include <cstdint>
#include <string>

#include "runner/findings/replay.h"
#include "runner/model/run.h"
#include "runner/summary/answer.h"
#include "runner/util/result.h"

namespace mlrun::findings {

struct AnswerOptions {
  int32_t driver_tid = 0;     // 0: found
  bool writes_tables = true;  // table `blame`
  bool has_rows = true;
  int64_t start_ns = 0, end_ns = 0;  // what is divided; 0: the whole run
};

// `folder` contains tables/. Without a thread that drives, or without rows of calls (has_rows), the answer stays empty.
Status answer(const std::string& folder, const model::Run& run, const AnswerOptions& options, summary::Answer& out);

// What the run would have taken with another loader. Fails where no DataLoader's batches are known, and where the replay of the run as it
// was is off by more than 5 %.
Result<Replayed> what_if(const std::string& folder, const model::Run& run, int32_t driver_tid, const WhatIf& change);

}  // namespace mlrun::findings
