// SPDX-License-Identifier: Apache-2.0
// Completion times and results of asynchronous file operations. Completions arrive in any order, some before their
// operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runner/decode/limits.h"
#include "runner/events/kernel_record.h"

namespace mlrun::trace {

struct Completion {
  int64_t time_ns = 0, result = 0;  // bytes, or a negative errno
};

class Completions {
 public:
  explicit Completions(size_t most = decode::kCompletionsMax) : most_(most) {}
  // Beyond the limit, completions are only counted (left_out()).
  void add(const mlrun_file_done& record);
  // Requires: all were added.
  void sort();

  // Completion of the operation with this number; the first if there are several. nullopt: none was recorded, which is
  // counted (missing()): without fentry the kernel skips the probe for a completion in an interrupt that arrives while
  // another probe runs.
  [[nodiscard]] std::optional<Completion> of(uint64_t operation);
  [[nodiscard]] uint64_t missing() const { return missing_; }
  [[nodiscard]] uint64_t left_out() const { return left_out_; }

 private:
  struct Entry {
    uint64_t operation;
    Completion completion;
  };
  std::vector<Entry> entries_;
  size_t most_;
  uint64_t left_out_ = 0, missing_ = 0;
};

}  // namespace mlrun::trace
