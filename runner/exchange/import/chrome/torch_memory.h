// SPDX-License-Identifier: Apache-2.0
// What PyTorch's profiler writes about memory: `[memory]` events of a trace, and the files of export_memory_timeline().
#pragma once

#include <cstdint>
#include <string>

#include "runner/exchange/import/chrome/chrome_event.h"
#include "runner/exchange/import/json_members.h"
#include "runner/exchange/import/trace_maker.h"

namespace mlrun::exchange {

class TorchMemory {
 public:
  explicit TorchMemory(TraceMaker& to) : to_(to) {}
  // Adds a `[memory]` event: its totals become counters. Sets `taken` if it is about a GPU and became a row of torch_memory.
  Status add(const ChromeEvent& event, const model::Origin& origin, const std::string& rest, bool& taken);

 private:
  TraceMaker& to_;
  JsonMembers members_;
};

// Reads [[time, action, bytes, category], ...] and [times, sizes by category].
Status read_memory_timeline(const std::string& path, TraceMaker& to);
[[nodiscard]] bool looks_like_memory_timeline(std::string_view text);

}  // namespace mlrun::exchange
