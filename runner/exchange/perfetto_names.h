// SPDX-License-Identifier: Apache-2.0
// Texts and stacks of a Perfetto file by number: each is written once, in the packet before the first one that refers to it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/exchange/stacks.h"
#include "runner/exchange/timeline_sink.h"
#include "runner/exchange/timeline_tables.h"

namespace mlrun::exchange {

class PerfettoNames {
 public:
  explicit PerfettoNames(const Stacks& stacks) : stacks_(&stacks) {}

  // A new file: nothing has been written.
  void clear();
  // Fields of an InternedData message that must be written before the next event; empty: none.
  [[nodiscard]] std::string& pending() { return pending_; }
  // Bytes of texts in this file.
  [[nodiscard]] size_t text_bytes() const { return text_bytes_; }

  uint64_t event_name(uint32_t number, std::string_view text);
  uint64_t category(const TimelineTable& table);
  uint64_t annotation_name(const Argument& argument);
  // The number of a text. 0: it has none, as there are too many texts or it is too long; the row then has the text itself.
  uint64_t value(const Argument& argument, std::string_view text);
  // The number of an id's name.
  uint64_t value_of_id(const Argument& argument, int64_t id, std::string_view name);
  // The number of the description of what a table's stacks are weighted by.
  uint64_t sample_descriptor(const TimelineTable& table, StackUnit unit);
  // 0: the stack is unknown.
  uint64_t callstack(int64_t stack_id);

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard names it
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Texts = std::unordered_map<std::string, uint64_t, Hash, std::equal_to<>>;
  struct Last {
    std::string text;
    uint64_t iid = 0;
  };

  void write(uint32_t field, uint64_t iid, std::string_view text);
  uint64_t text_of(Texts& texts, uint32_t field, std::string_view text);
  uint64_t mapping(const std::string& library);
  uint64_t frame(int32_t frame_id);

  const Stacks* stacks_;
  std::string pending_;
  size_t text_bytes_ = 0;
  std::vector<bool> event_names_;                                  // whether written, by number
  std::vector<bool> categories_, annotation_names_, descriptors_;  // the same, by number of the table, argument, table
  std::vector<Last> last_values_;                                  // by number of the argument
  std::vector<std::vector<uint32_t>> ids_;                         // by number of the argument, by id
  Texts values_, functions_, paths_, sources_, mappings_;
  std::unordered_map<int64_t, uint64_t> frames_, callstacks_;
};

}  // namespace mlrun::exchange
