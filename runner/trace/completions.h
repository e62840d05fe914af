// SPDX-License-Identifier: Apache-2.0
// When file operations that were handed in were over, and with what. Completions come in any order, some before their
// operations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runner/events/kernel_record.h"

namespace mlrun::trace {

struct Completion {
  int64_t time_ns = 0, result = 0;  // bytes, or a negative errno
};

class Completions {
 public:
  // Beyond a few million the rest is not known.
  void add(const mlrun_file_done& record);
  // Requires: all were added.
  void sort();

  // Of an operation, by its number; the first one, if there should be several.
  [[nodiscard]] std::optional<Completion> of(uint64_t operation) const;

 private:
  struct Entry {
    uint64_t operation;
    Completion completion;
  };
  std::vector<Entry> entries_;
};

}  // namespace mlrun::trace
