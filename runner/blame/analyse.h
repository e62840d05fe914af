// SPDX-License-Identifier: Apache-2.0
// The driver's time of a trace, divided and summed up.
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
  int32_t driver_tid = 0;       // 0: found
};

struct Analysis {
  Timeline timeline;
  Lines lines;
  Division division;
  std::unique_ptr<Divider> divider;  // for further questions to the chain
  summary::Answer answer;            // without findings
};

// Fails where a table cannot be read. Without a thread that drives, `answer.wall_ns` is 0.
Result<std::unique_ptr<Analysis>> analyse(const Options& options);

// What the label of a piece is called in table `blame`.
[[nodiscard]] const char* label_name(Label label);

}  // namespace mlrun::blame
