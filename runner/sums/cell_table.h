// SPDX-License-Identifier: Apache-2.0
// Sums of calls and allocations with the same key. The number of sums is bounded: when the table fills up, keys without a
// sum lose fields, so that calls share a sum and the totals stay exact. The fields of a key, by number of sums so far:
//
//   process, stretch, function, errno, file, site            at first
//   process,          function, errno, file, site            from kCells sums on
//   process,          function, errno, type of the file      from 2 * kCells on
//                     function, errno, type of the file      from 2 * kCells + kCoarse on
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner/events/sums.h"
#include "runner/util/flat_map.h"

namespace mlrun::sums {

struct CellKey {
  uint32_t process = 0, stretch = 0;
  uint16_t kind = 0;  // of the record, which is the function
  uint16_t err = 0;
  uint64_t file = 0, site = 0;
  uint32_t type = 0;  // of the file, as in st_mode
};

// What one call or allocation adds to its sum.
struct Measures {
  uint64_t calls = 1, served_calls = 1;
  uint64_t moved = 0;
  uint64_t asked = 0;          // requested bytes; UINT64_MAX: the function has none
  uint64_t ticks = 0, ns = 0;  // ns: UINT64_MAX: not measured
  uint64_t first = 0, last = 0;
};

struct Cell {
  mlrun_sum sum{};
  uint64_t channel = 0;
  std::array<uint64_t, 16> record{};
  std::vector<mlrun_sum_bucket> times, sizes;

  void add(const Measures& one);

  // Adds the duration of a call that add() counted without a duration. `last`: end of the call.
  void add_time(uint64_t ticks, uint64_t ns, uint64_t last);
};

class CellTable {
 public:
  static constexpr size_t kCells = size_t{1} << 16;
  static constexpr size_t kCoarse = size_t{1} << 14;

  // The sum for a key. `made`: the sum is new, with only its stretch, flags and type set. Valid until the next call.
  Cell& at(const CellKey& key, bool& made);

  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }

 private:
  Cell* find_or_make(const CellKey& key, size_t room, uint16_t flags, bool& made);

  std::vector<Cell> cells_;
  util::FlatMap<uint32_t> by_key_;
};

}  // namespace mlrun::sums
