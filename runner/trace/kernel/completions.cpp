// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/kernel/completions.h"

#include <algorithm>

#include "runner/trace/spool/trace_clock.h"

namespace mlrun::trace {

void Completions::add(const mlrun_file_done& record) {
  if (entries_.size() >= most_) {
    ++left_out_;
    return;
  }
  entries_.push_back({record.operation, {TraceClock::from_monotonic(record.head.time_ns), record.result}});
}

void Completions::sort() {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.operation < b.operation; });
}

std::optional<Completion> Completions::of(uint64_t operation) {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), operation,
                                      [](const Entry& entry, uint64_t number) { return entry.operation < number; });
  if (found == entries_.end() || found->operation != operation) {
    ++missing_;
    return std::nullopt;
  }
  return found->completion;
}

}  // namespace mlrun::trace
