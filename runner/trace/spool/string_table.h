// SPDX-License-Identifier: Apache-2.0
// Strings of a run by their ids. Fragments of long ones are put together as they come. Bounded: what finds no room is
// counted and stays unknown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runner/model/text_arena.h"
#include "runner/trace/spool/block_scan.h"
#include "runner/util/chunked_list.h"
#include "runner/util/flat_map.h"

namespace mlrun::trace {

class StringTable {
 public:
  // Texts are kept in `texts`, which outlives the table.
  explicit StringTable(model::TextArena& texts) : texts_(&texts) {}

  void add(const StringNote& string);
  void add(uint64_t channel, const FragmentNote& fragment);

  // Nothing: not defined, or not yet.
  [[nodiscard]] std::optional<std::string_view> find(uint64_t id);
  // The text, "" if there is none.
  [[nodiscard]] std::string_view text(uint64_t id) { return find(id).value_or(std::string_view{}); }

  // Definitions that were left out: no room, or a text that does not belong to its id.
  [[nodiscard]] uint64_t left_out() const { return left_out_; }

 private:
  struct Pending {
    std::string text;
    uint32_t next = 0;
  };
  void keep(uint64_t id, std::string_view text);

  model::TextArena* texts_;
  summary::FlatMap<uint32_t, util::SpillAllocator> by_id_;  // index
  util::ChunkedList<std::string_view> strings_;
  std::map<std::pair<uint64_t, uint64_t>, Pending> pending_;  // by channel and id
  uint64_t kept_bytes_ = 0, left_out_ = 0;
};

}  // namespace mlrun::trace
