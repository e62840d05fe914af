// SPDX-License-Identifier: Apache-2.0
// Strings of a run by id. Assembles fragments of long strings. Bounded: strings beyond the limits are counted and stay
// unknown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runner/model/text_arena.h"
#include "runner/trace/spool/chunk_scan.h"
#include "runner/util/chunked_list.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

class StringTable {
 public:
  // Stores texts in `texts`, which outlives the table.
  explicit StringTable(model::TextArena& texts) : texts_(&texts) {}

  void add(const StringNote& string);
  void add(uint64_t channel, const FragmentNote& fragment);

  // nullopt: not defined (yet).
  [[nodiscard]] std::optional<std::string_view> find(uint64_t id);
  // The text, or "".
  [[nodiscard]] std::string_view text(uint64_t id) { return find(id).value_or(std::string_view{}); }

  // Rejected definitions: over the limit, or a text that does not match its id.
  [[nodiscard]] uint64_t left_out() const { return left_out_; }

 private:
  struct Pending {
    std::string text;
    uint32_t next = 0;
  };
  void keep(uint64_t id, std::string_view text);

  model::TextArena* texts_;
  util::FlatMap<uint32_t, util::SpillAllocator> by_id_;  // index by id
  util::ChunkedList<std::string_view> strings_;
  std::map<std::pair<uint64_t, uint64_t>, Pending> pending_;  // by channel and id
  uint64_t kept_bytes_ = 0, left_out_ = 0;
};

}  // namespace mlrun::trace
