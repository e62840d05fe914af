// SPDX-License-Identifier: Apache-2.0
// Records that say what others mean: which of them go into the spool. Each is kept once, and all of them together have
// a bound, so that a run of any length leaves a spool of bounded size.
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

  // A record that is no call and no allocation: appended to `kept` if it is needed.
  void take(const events::RecordView& record, uint32_t process, std::vector<char>& kept);

  // A record or a report that must not be left out as long as there is room. False: there is none.
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
  summary::FlatMap<uint8_t> strings_;  // that are kept
  summary::FlatMap<uint8_t> memfds_;   // names of memory files
  summary::FlatMap<uint8_t> stacks_;   // by process and id
  uint64_t left_bytes_;
  uint64_t left_out_ = 0;
};

}  // namespace mlrun::sums
