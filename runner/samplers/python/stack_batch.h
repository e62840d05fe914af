// SPDX-License-Identifier: Apache-2.0
// Collects stack samples into one spool frame (runner/events/python_sample.h): equal texts, stack frames and stacks are
// stored once. A thread that still sleeps at the same place, in the same state, extends its previous row; a running one
// gets a row per sample.
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
    char state = 0;            // as in mlrun_python_sample
    uint64_t interpreter = 0;  // which interpreter, if the thread is in several
  };
  // Adds a sample. `period_ns`: time since the thread's previous sample.
  void add(uint64_t now_ns, uint64_t period_ns, const Who& who, const Stack& stack);

  // Extends the previous row of a thread that has not run since its previous sample. False: this batch has no such row;
  // the sample must be added.
  bool extend(uint64_t now_ns, uint64_t period_ns, const Who& who);

  // Later samples extend no row that is there now.
  void end_rows() { last_.clear(); }

  [[nodiscard]] bool empty() const { return samples_.empty(); }
  [[nodiscard]] size_t samples() const { return samples_.size(); }
  // Size of the payload.
  [[nodiscard]] size_t bytes() const;

  // Returns the payload and empties the batch.
  std::string take();

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint64_t>;
  static Key key_of(const Who& who) { return {who.process, who.tid, who.interpreter}; }
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
  std::map<Key, size_t> last_;  // each thread's last row
};

}  // namespace mlrun::python
