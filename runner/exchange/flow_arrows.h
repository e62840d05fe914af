// SPDX-License-Identifier: Apache-2.0
// Arrows of the table `flow`, in which each row is an end of an arrow, or a step: the end of one and the begin of the next. An end is
// bound to the slice around it, or to the next slice of its thread; where there is none, the row of `flow` is a point. Viewers want an
// arrow at the begin of a slice, so a first pass over all rows finds the slice of each end. PyTorch's profiler writes GPU and stream as
// pid and tid: an end on such a thread is bound to the GPU work of this stream.
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

  // Call it for every row of every source, in the source's order: appends the numbers of the arrows that begin and end at the row.
  void take_row(size_t source, std::vector<uint64_t>& begins, std::vector<uint64_t>& ends);
  // Whether the last row of `flow` given to take_row() needs no point: it has arrows, and all are bound to other rows.
  [[nodiscard]] bool is_drawn() const { return is_drawn_; }
  // The threads at both ends of an arrow.
  [[nodiscard]] std::pair<int32_t, int32_t> threads(uint64_t number) const { return threads_[number - first_number_]; }

  [[nodiscard]] uint64_t next_number() const { return first_number_ + threads_.size(); }
  // Rows of `flow` without an arrow, because the other end is missing.
  [[nodiscard]] int64_t without_arrow() const { return without_arrow_; }
  // Arrows left out, since the correlation ids of the rows give the same arrow, from a launch to its work.
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
  std::vector<size_t> next_;                          // next index in ends_, by source
  std::vector<uint64_t> taken_;                       // rows, by source
  std::vector<std::pair<int32_t, int32_t>> threads_;  // by arrow
  std::vector<bool> has_arrow_, needs_point_;         // by row of `flow`
  size_t flow_source_ = SIZE_MAX;
  bool is_drawn_ = false;
  int64_t without_arrow_ = 0, of_launches_ = 0;
};

}  // namespace mlrun::exchange
