// SPDX-License-Identifier: Apache-2.0
// Finds the driver (the thread that trains), divides its time into pieces and sums them up in an Answer.
#pragma once

#include <memory>
#include <string>

#include "runner/blame/divide.h"
#include "runner/blame/timeline/timeline.h"
#include "runner/summary/answer.h"
#include "runner/util/result.h"

namespace mlrun::blame {

struct Options {
  std::string folder;           // contains tables/
  Ns start_ns = 0, end_ns = 0;  // the run; 0: from the first to the last record
  int32_t driver_tid = 0;       // the driver's Linux thread id; 0: find the driver
};

struct Analysis {
  Timeline timeline;
  Lines lines;
  Division division;
  std::unique_ptr<Divider> divider;  // kept so that callers can ask it about further waits
  summary::Answer answer;            // without findings
};

// Fails if a table cannot be read. `answer.wall_ns` is 0 if the trace has no driver.
Result<std::unique_ptr<Analysis>> analyse(const Options& options);

// The name of a label in table `blame`.
[[nodiscard]] const char* label_name(Label label);

}  // namespace mlrun::blame
