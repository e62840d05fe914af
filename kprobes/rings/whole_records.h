// SPDX-License-Identifier: Apache-2.0
// Expands the short records of file operations (bpf/shared.h): what they leave out is in the last whole record of their
// thread, which came before. The rings hold three times as many short ones, and readers of the spool file see only
// whole records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "runner/events/kernel_record.h"

namespace mlrun::probes {

class WholeRecords {
 public:
  // The next record of the rings, in their order: itself, or the expansion of a short one, valid until the next call.
  // Empty: a short one without a preceding whole one.
  std::string_view next(const void* record, size_t bytes);

  // Short records that could not be expanded.
  [[nodiscard]] uint64_t unknown() const { return unknown_; }
  // Threads in the table.
  [[nodiscard]] size_t threads() const { return threads_.size(); }

 private:
  struct Told {
    mlrun_file_op operation{};  // the last one
    uint64_t whole_ns = 0;      // end of the last whole one
  };
  void keep(const mlrun_file_op& operation);

  std::unordered_map<uint32_t, Told> threads_;  // by tid
  size_t forget_at_ = 1024;
  uint64_t unknown_ = 0;
};

}  // namespace mlrun::probes
