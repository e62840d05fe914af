// SPDX-License-Identifier: Apache-2.0
// Iterates over the entries of a frame of sums (runner/events/sums.h). Checks every length; stops at a malformed entry.
#pragma once

#include <cstdint>
#include <optional>

#include "runner/decode/event_view.h"
#include "runner/events/sums.h"
#include "runner/trace/spool/spool_cursor.h"

namespace mlrun::trace {

class SumCursor {
 public:
  explicit SumCursor(const SpoolFrame& frame) : frame_(frame) {}

  // False at the end.
  bool next() {
    at_ += bytes_;
    bytes_ = 0;
    record_.reset();
    if (at_ == frame_.header.payload_bytes) return false;
    if (!frame_.read(sum_, at_) || !is_whole()) {
      damaged_bytes_ += frame_.header.payload_bytes - at_;
      at_ = frame_.header.payload_bytes;
      return false;
    }
    bytes_ = sum_.bytes;
    if (sum_.record_units == 0) return true;
    const size_t word = (at_ + sizeof sum_) / sizeof(uint64_t);
    decode::RecordReader reader(frame_.payload + word, record_bytes(), 1);
    if (reader.next()) record_ = reader.record();
    return true;
  }

  [[nodiscard]] const mlrun_sum& sum() const { return sum_; }
  // The record of the current entry; nullptr: the entry has none, or it is damaged.
  [[nodiscard]] const decode::RecordView* record() const { return record_ ? &*record_ : nullptr; }
  // Requires: index < sum().time_buckets + sum().size_buckets.
  [[nodiscard]] mlrun_sum_bucket bucket(uint32_t index) const {
    mlrun_sum_bucket bucket{};
    frame_.read(bucket, at_ + static_cast<uint32_t>(sizeof sum_) + record_bytes() +
                            index * static_cast<uint32_t>(sizeof bucket));
    return bucket;
  }
  [[nodiscard]] uint64_t damaged_bytes() const { return damaged_bytes_; }

 private:
  [[nodiscard]] uint32_t record_bytes() const { return uint32_t{sum_.record_units} * MLRUN_UNIT_BYTES; }
  [[nodiscard]] bool is_whole() const {
    const uint64_t buckets = uint64_t{sum_.time_buckets} + sum_.size_buckets;
    const uint64_t bytes = sizeof sum_ + record_bytes() + buckets * sizeof(mlrun_sum_bucket);
    return sum_.bytes == bytes && bytes <= frame_.header.payload_bytes - at_ && sum_.record_units <= UINT8_MAX;
  }

  const SpoolFrame& frame_;
  uint32_t at_ = 0, bytes_ = 0;
  mlrun_sum sum_{};
  std::optional<decode::RecordView> record_;
  uint64_t damaged_bytes_ = 0;
};

}  // namespace mlrun::trace
