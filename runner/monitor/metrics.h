// SPDX-License-Identifier: Apache-2.0
// The metrics and their current values. README.md lists them.
#pragma once

#include <cstdint>
#include <string>

#include "runner/monitor/exposition.h"
#include "runner/monitor/gpu_board.h"
#include "runner/monitor/gpu_feed.h"
#include "runner/monitor/self_use.h"

namespace mlrun::monitor {

// Counts of the HTTP server, without the current answer.
struct ServedState {
  uint64_t scrapes = 0, scrape_ns = 0;
  uint64_t cut_connections = 0;
};

struct MetricsInput {
  const GpuBoard& board;
  const FeedState& feed;
  ServedState served;
  SelfUse self;
  std::string hostname;
  bool label_args = false;
};

std::string metrics_text(const MetricsInput& input, Format format);

}  // namespace mlrun::monitor
