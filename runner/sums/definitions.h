// SPDX-License-Identifier: Apache-2.0
// Selects the definition records that go into the spool. Each is kept once and their total is bounded, so that the
// spool of a run of any length is bounded.
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

  // A record other than a call or an allocation: appended to `kept` if needed.
  void take(const events::RecordView& record, uint32_t process, std::vector<char>& kept);

  // A record or report that is kept unless the bound is reached. False: it is.
  bool take_room(uint64_t bytes);

  [[nodiscard]] KnownFiles& files() { return files_; }
  [[nodiscard]] const KnownFiles& files() const { return files_; }
  [[nodiscard]] uint64_t left_out() const { return left_out_; }

  static void append(const uint64_t* words, uint32_t units, std::vector<char>& kept);

 private:
  static constexpr size_t kNamesMax = size_t{1} << 20;

  bool is_new_string(const events::RecordView& record);
  void take_file(const events::RecordView& record, std::vector<char>& kept);

  KnownFiles files_;
  summary::FlatMap<uint8_t> strings_;  // kept ones
  summary::FlatMap<uint8_t> memfds_;   // names of memory files
  summary::FlatMap<uint8_t> stacks_;   // by process and id
  uint64_t left_bytes_;
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::sums
