// SPDX-License-Identifier: Apache-2.0
// Selects the definition records (names, files, processes, stacks) that go into the spool with --summary-only. Each
// definition is kept once and their total is bounded, so that the spool of a run of any length is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner/decode/event_view.h"
#include "runner/sums/known_files.h"
#include "runner/util/flat_map.h"

namespace mlrun::sums {

class Definitions {
 public:
  explicit Definitions(uint64_t max_bytes) : left_bytes_(max_bytes) {}

  // Takes a record other than a call or an allocation, and appends it to `kept` if the spool needs it.
  void take(const decode::RecordView& record, uint32_t process, std::vector<char>& kept);

  // Reserves room for a record or report that shall be kept. False: the bound is reached, it must not be kept.
  bool take_room(uint64_t bytes);

  [[nodiscard]] KnownFiles& files() { return files_; }
  [[nodiscard]] const KnownFiles& files() const { return files_; }
  [[nodiscard]] uint64_t left_out() const { return left_out_; }

  static void append(const uint64_t* words, uint32_t units, std::vector<char>& kept);

 private:
  static constexpr size_t kNamesMax = size_t{1} << 20;

  bool is_new_string(const decode::RecordView& record);
  void take_file(const decode::RecordView& record, std::vector<char>& kept);

  KnownFiles files_;
  util::FlatMap<uint8_t> strings_;  // ids of kept strings
  util::FlatMap<uint8_t> memfds_;   // ids of strings that name memory files (memfd)
  util::FlatMap<uint8_t> stacks_;   // kept stacks, by process and id
  uint64_t left_bytes_;
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::sums
