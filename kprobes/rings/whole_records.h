// SPDX-License-Identifier: Apache-2.0
// Expands the short records of file operations (bpf/shared.h). The omitted fields are in the thread's last whole
// record, which precedes them. A ring has room for three times as many short records as whole ones; readers of the
// spool see only whole records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "runner/events/kernel_record.h"

namespace mlrun::probes {

class WholeRecords {
 public:
  // Called with each record of the rings, in order. Returns the record itself or, for a short one, its expansion, valid
  // until the next call. Empty: a short record without a preceding whole one.
  std::string_view next(const void* record, size_t bytes);

  // Short records that could not be expanded.
  [[nodiscard]] uint64_t unknown() const { return unknown_; }
  // Number of threads in the table.
  [[nodiscard]] size_t threads() const { return threads_.size(); }

 private:
  struct Told {
    mlrun_file_op operation{};  // the thread's last operation, expanded
    uint64_t whole_ns = 0;      // end of the thread's last whole record
  };
  void keep(const mlrun_file_op& operation);

  std::unordered_map<uint32_t, Told> threads_;  // by tid
  size_t forget_at_ = 1024;
  uint64_t unknown_ = 0;
};

}  // namespace mlrun::probes
