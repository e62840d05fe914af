// SPDX-License-Identifier: Apache-2.0
// Where threads were in Python, by the looks at their stacks: for pieces of gaps in which a thread was on the processor.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "runner/idle/gap_finder.h"

namespace mlrun::idle {

class PythonLines {
 public:
  // At both moments and at each look between them, which are `apart_ns` apart on average.
  struct Look {
    int64_t first_ns = 0, last_ns = 0;
    int32_t stack_id = 0, frame_id = 0;  // the innermost frame's
    int64_t apart_ns = 0;
  };

  // One beyond kLooksMax is counted alone. Thread 0 is nobody.
  void add(int32_t thread_id, const Look& look);
  // All were added.
  void sort();

  // The look of the piece that is nearest to its middle; null: none lies in it.
  [[nodiscard]] const Look* find(int32_t thread_id, Stretch piece) const;
  [[nodiscard]] int64_t left_out() const { return left_out_; }

 private:
  static constexpr int64_t kLooksMax = 8'000'000;

  std::unordered_map<int32_t, std::vector<Look>> looks_;
  int64_t count_ = 0, left_out_ = 0;
};

}  // namespace mlrun::idle
