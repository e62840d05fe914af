// SPDX-License-Identifier: Apache-2.0
// The stacks of a trace and their frames, in memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runner/exchange/export.h"

namespace mlrun::exchange {

struct StackFrame {
  std::string function, library, source, label;  // empty: unknown
  int64_t line = 0, offset = 0;
};

class Stacks {
 public:
  static Result<Stacks> load(Export& job);

  // Ids of the stack's frames, the innermost first. Empty: there is no such stack.
  [[nodiscard]] std::span<const int32_t> frames_of(int64_t stack_id) const;
  // Requires: an id from frames_of().
  [[nodiscard]] const StackFrame& frame(int32_t frame_id) const { return frames_[size_t(frame_id)]; }

 private:
  struct Range {
    size_t begin = 0, count = 0;
  };
  std::vector<int32_t> frame_ids_;
  std::unordered_map<int64_t, Range> stacks_;
  std::vector<StackFrame> frames_;  // by frame_id
};

}  // namespace mlrun::exchange
