// SPDX-License-Identifier: Apache-2.0
// Makes the short records of file operations (bpf/shared.h) whole again: what they leave out stands in the last whole one of
// their thread, which came before them. The rings hold three times as many of them, and nobody who reads a file needs to know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "runner/events/kernel_record.h"

namespace mlrun::probes {

class WholeRecords {
 public:
  // The next record of the rings, in their order: itself or, of a short one, the whole one, which is good until the next call.
  // Empty: nothing came before a short one that it could refer to.
  std::string_view next(const void* record, size_t bytes);

  // Short ones that nothing was known to.
  [[nodiscard]] uint64_t unknown() const { return unknown_; }
  // Threads that are known.
  [[nodiscard]] size_t threads() const { return threads_.size(); }

 private:
  struct Told {
    mlrun_file_op operation{};  // the last one
    uint64_t whole_ns = 0;      // when the last whole one was over
  };
  void keep(const mlrun_file_op& operation);

  std::unordered_map<uint32_t, Told> threads_;  // by tid
  size_t forget_at_ = 1024;
  uint64_t unknown_ = 0;
};

}  // namespace mlrun::probes
