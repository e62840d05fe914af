// SPDX-License-Identifier: Apache-2.0
// Arrows of the table `flow`, which has their ends: "here begins the arrow 5", "here it ends". An end is bound to the slice
// around it, or to the next one of its thread, or, where there is none, to itself. Viewers want an arrow at the begin of the slice,
// so a first pass over all rows finds which. An end on a thread with the numbers of a GPU and a stream, as PyTorch's profiler has
// them, is bound to the work there.
//
// In memory: 40 bytes for an arrow, 80 for each that may have further ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runner/exchange/export.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

// A table whose rows may have arrows.
struct FlowSource {
  enum class Kind : uint8_t { kNone, kSlices, kStream, kFlow };
  std::string table;
  Kind kind = Kind::kNone;  // kNone: its rows have no arrows
};

class FlowArrows {
 public:
  // Reads the arrows of one node. They are numbered from `first_number` on.
  static Result<FlowArrows> find(Export& job, int64_t node_id, const std::vector<FlowSource>& sources,
                                 uint64_t first_number);

  // To be called for every row of every source, in the order of each: appends the numbers of the arrows that begin and end there.
  void take_row(size_t source, std::vector<uint64_t>& begins, std::vector<uint64_t>& ends);
  // Whether the row of `flow` that was taken last has arrows, and all of them are at other rows.
  [[nodiscard]] bool is_drawn() const { return is_drawn_; }
  // The threads at both ends of an arrow.
  [[nodiscard]] std::pair<int32_t, int32_t> threads(uint64_t number) const { return threads_[number - first_number_]; }

  [[nodiscard]] uint64_t next_number() const { return first_number_ + threads_.size(); }
  // Rows of `flow` that are ends of no arrow: the other end is missing.
  [[nodiscard]] int64_t without_arrow() const { return without_arrow_; }
  // Arrows that the rows' own ids draw too, from the launch to the work.
  [[nodiscard]] int64_t of_launches() const { return of_launches_; }

 private:
  class Finder;
  struct End {
    uint64_t row = 0;    // of its source
    uint32_t arrow = 0;  // from 0
    uint16_t source = 0;
    bool is_begin = false;
  };

  uint64_t first_number_ = 0;
  std::vector<std::vector<End>> ends_;                // by source, in the order of rows
  std::vector<size_t> next_;                          // of ends_
  std::vector<uint64_t> taken_;                       // rows, by source
  std::vector<std::pair<int32_t, int32_t>> threads_;  // by arrow
  std::vector<bool> has_arrow_, needs_point_;         // by row of `flow`
  size_t flow_source_ = SIZE_MAX;
  bool is_drawn_ = false;
  int64_t without_arrow_ = 0, of_launches_ = 0;
};

}  // namespace mlrun::exchange
