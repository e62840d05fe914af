// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/log_lines.h"

#include <algorithm>

#include "runner/events/mllog_stamp.h"

namespace mlrun::sums {

namespace {

constexpr uint64_t kMillisecondNs = events::kMllogStampNs, kSlackNs = events::kMllogSlackNs;
constexpr uint64_t kForgetNs = 1'000'000'000;  // the record of a write is drained long before this age

}  // namespace

void LogLines::expect(uint64_t bound_ns, Stretches& stretches) {
  stretches.begin(bound_ns);
  stretches.begin(bound_ns + kMillisecondNs);
  expected_.push_back(bound_ns);
}

void LogLines::find(decode::RecordReader records, const SumsClock& clock, Stretches& stretches) {
  if (expected_.empty()) return;
  uint64_t last_ns = 0;
  while (records.next()) {
    const decode::RecordView& record = records.record();
    const decode::EventClass event_class = decode::class_of(record.kind);
    if (event_class == decode::EventClass::kFile) {
      if (decode::FileEvent file; decode::decode(record, file)) take(file);
    }
    decode::CallEvent call;
    if (event_class != decode::EventClass::kCall || !decode::decode(record, call)) continue;
    const uint64_t start_ns = clock.monotonic_ns(call.start);
    last_ns = std::max(last_ns, start_ns);
    if (!open_.find(call.open_file)) continue;
    const auto is_met = [&](uint64_t bound_ns) {
      return start_ns + kSlackNs >= bound_ns && start_ns < bound_ns + kMillisecondNs;
    };
    if (std::any_of(expected_.begin(), expected_.end(), is_met)) stretches.begin(start_ns);
  }
  std::erase_if(expected_, [&](uint64_t bound_ns) { return bound_ns + kForgetNs < last_ns; });
}

void LogLines::take(const decode::FileEvent& file) {
  if (!has_logs_) return;
  const int32_t log = tail_.log_of(file.device, file.inode);
  if (log < 0 || file.number == 0) return;
  if (open_.size() >= kOpenMax) open_.clear();
  open_.at(file.number) = log;
}

void LogLines::take(const decode::CallEvent& call, uint64_t start_ns, int64_t written) {
  const int32_t* log = open_.size() == 0 || call.open_file == 0 ? nullptr : open_.find(call.open_file);
  if (!log || written <= 0) return;
  if (writes_.size() >= kWritesMax) writes_.erase(writes_.begin(), writes_.begin() + kWritesMax / 2);
  writes_.push_back({start_ns, static_cast<uint64_t>(written), static_cast<uint64_t>(*log)});
}

}  // namespace mlrun::sums
