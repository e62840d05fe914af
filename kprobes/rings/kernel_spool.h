// SPDX-License-Identifier: Apache-2.0
// Writes the records of mlrun-probes to its spool file, in spool frames (runner/events/spool.h), through the descriptor
// that mlrun passed. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mlrun::probes {

class KernelSpool {
 public:
  // Requires: the file is empty. The caller remains the owner of `fd`.
  explicit KernelSpool(int fd);

  // Appends a record. `time_ns`: the end of the event. Requires: bytes is a multiple of 8.
  void add(const void* record, size_t bytes, uint64_t time_ns);

  // Appends a record followed by text and padding zeros to a multiple of 8. Requires: the record's head is set,
  // except for its size. False: the record would be too long.
  template <typename Record>
  bool add_with_text(Record record, std::string_view text) {
    const size_t words = (text.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t);
    std::vector<uint64_t> whole(sizeof record / sizeof(uint64_t) + words);
    const size_t bytes = whole.size() * sizeof(uint64_t);
    if (bytes > UINT16_MAX) return false;
    record.head.bytes = static_cast<uint16_t>(bytes);
    __builtin_memcpy(whole.data(), &record, sizeof record);
    text.copy(reinterpret_cast<char*>(whole.data()) + sizeof record, text.size());
    add(whole.data(), bytes, record.head.time_ns);
    return true;
  }

  // Writes a spool frame with the records added so far.
  void flush();

  [[nodiscard]] uint64_t records() const { return records_; }
  [[nodiscard]] uint64_t bytes() const { return offset_; }
  // How many records were dropped because the file was full or a write failed, and the first errno (0: size limit).
  [[nodiscard]] uint64_t left_out() const { return left_out_; }
  [[nodiscard]] int error() const { return error_; }

 private:
  void put(uint16_t type, const void* payload, uint32_t bytes);
  bool write(const void* data, size_t bytes);

  int fd_;
  std::vector<uint64_t> payload_;
  uint64_t first_ns_ = 0, last_ns_ = 0;
  uint64_t offset_ = 0, seq_ = 0, records_ = 0, waiting_ = 0, left_out_ = 0;
  int error_ = 0;
  bool full_ = false;
};

}  // namespace mlrun::probes
