// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/rows/free_times.h"

#include <algorithm>
#include <tuple>

#include "runner/events/record.h"

namespace mlrun::trace {

namespace {

constexpr size_t kWaitingMax = size_t{1} << 20;  // usually one per frame; a damaged spool may contain any number

bool is_open_free(const model::AllocRow& row) { return row.op == MLRUN_FREE && row.dur_ns < 0; }

auto key(const FreeTime& time) { return std::tuple(time.start_ns, time.thread_id); }
auto key(const model::AllocRow& row) { return std::tuple(row.origin.ts_ns, row.origin.thread_id); }

}  // namespace

void FreeTimes::add(const FreeTime& time, AllocRows& rows) {
  if (!rows.empty() && is_open_free(rows.back()) && key(rows.back()) == key(time)) {
    rows.back().dur_ns = time.dur_ns;
  } else if (waiting_.size() < kWaitingMax) {
    waiting_.push_back(time);
  }
}

void FreeTimes::apply(AllocRows& rows) {
  if (waiting_.empty()) return;
  const auto before = [](const FreeTime& a, const FreeTime& b) { return key(a) < key(b); };
  std::sort(waiting_.begin(), waiting_.end(), before);
  for (model::AllocRow& row : rows) {
    if (!is_open_free(row)) continue;
    const FreeTime wanted{row.origin.thread_id, row.origin.ts_ns, 0};
    const auto found = std::lower_bound(waiting_.begin(), waiting_.end(), wanted, before);
    if (found != waiting_.end() && key(*found) == key(row)) row.dur_ns = found->dur_ns;
  }
}

}  // namespace mlrun::trace
