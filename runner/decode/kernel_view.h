// SPDX-License-Identifier: Apache-2.0
// Iterates over the records of a kernel frame (kernel_record.h). Input is untrusted: no read leaves the payload, and a
// malformed record ends the iteration and is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runner/events/kernel_record.h"

namespace mlrun::events {

class KernelReader {
 public:
  // Requires: `payload` is 8-byte aligned and outlives the reader.
  KernelReader(const uint64_t* payload, size_t bytes)
      : at_(reinterpret_cast<const char*>(payload)), left_(bytes / sizeof(uint64_t) * sizeof(uint64_t)) {
    damaged_bytes_ = bytes - left_;
  }

  // Advances to the next record; false at the end.
  bool next() {
    at_ += head_.bytes;
    left_ -= head_.bytes;
    if (left_ >= sizeof head_) {
      mlrun_kernel_head head{};
      std::memcpy(&head, at_, sizeof head);
      if (head.bytes >= sizeof head && head.bytes % sizeof(uint64_t) == 0 && head.bytes <= left_) {
        head_ = head;
        return true;
      }
    }
    damaged_bytes_ += left_;
    left_ = 0;
    head_ = {};
    return false;
  }

  [[nodiscard]] const mlrun_kernel_head& head() const { return head_; }

  // False if the record is shorter than its kind.
  template <typename T>
  [[nodiscard]] bool read(T& record) const {
    if (head_.bytes < sizeof record) return false;
    std::memcpy(&record, at_, sizeof record);
    return true;
  }

  // Bytes after a record's fixed part. Requires: offset + bytes <= head().bytes.
  [[nodiscard]] std::string_view text(size_t offset, size_t bytes) const { return {at_ + offset, bytes}; }

  // The same, but empty if the record is too short.
  [[nodiscard]] std::string_view text_behind(size_t offset, size_t bytes) const {
    return head_.bytes >= offset + bytes ? text(offset, bytes) : std::string_view();
  }

  [[nodiscard]] size_t damaged_bytes() const { return damaged_bytes_; }

 private:
  const char* at_;
  size_t left_;
  size_t damaged_bytes_ = 0;
  mlrun_kernel_head head_{};
};

}  // namespace mlrun::events
