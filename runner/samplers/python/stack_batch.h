// SPDX-License-Identifier: Apache-2.0
// Collects stack samples into one spool frame (runner/events/python_sample.h): equal texts, stack frames and stacks are
// stored once. A thread that still sleeps at the same place extends its previous row; a running one gets a row per
// sample.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runner/events/python_sample.h"
#include "runner/samplers/python/interpreter.h"

namespace mlrun::python {

class StackBatch {
 public:
  struct Who {
    uint32_t process = 0, tid = 0;
    int running = -1;  // as in mlrun_python_sample
  };
  void add(uint64_t now_ns, const Who& who, const Stack& stack);

  [[nodiscard]] bool empty() const { return samples_.empty(); }
  [[nodiscard]] size_t samples() const { return samples_.size(); }
  // Size of the payload.
  [[nodiscard]] size_t bytes() const;

  // Returns the payload and empties the batch.
  std::string take();

 private:
  uint32_t text_id(const std::string& text);
  uint32_t frame_id(const Frame& frame);
  uint32_t stack_id(const Stack& stack);

  std::vector<mlrun_python_sample> samples_;
  std::vector<mlrun_python_stack> stacks_;
  std::vector<__u32> steps_;
  std::vector<mlrun_python_frame> frames_;
  std::vector<mlrun_python_text> texts_;
  std::string bytes_;
  std::unordered_map<std::string, uint32_t> text_ids_;
  std::map<std::tuple<uint32_t, uint32_t, int32_t>, uint32_t> frame_ids_;
  std::map<std::pair<std::vector<uint32_t>, bool>, uint32_t> stack_ids_;
  std::unordered_map<uint64_t, size_t> last_;  // by process and thread: its last row
};

}  // namespace mlrun::python
