// SPDX-License-Identifier: Apache-2.0
#include "runner/sums/cell_table.h"

#include <algorithm>
#include <bit>

#include "runner/util/scrambled.h"

namespace mlrun::sums {

namespace {

using util::scrambled;

uint64_t hash_of(const CellKey& key) {
  const uint64_t who = uint64_t{key.process} << 32 | key.stretch;
  const uint64_t what = key.kind | uint64_t{key.err} << 16 | uint64_t{key.type} << 32;
  return scrambled(scrambled(scrambled(who, what), key.file), key.site);
}

// Searches in sequence: a sum has only a few buckets.
void count(std::vector<mlrun_sum_bucket>& buckets, uint64_t index, uint64_t calls, uint64_t bytes) {
  auto found = std::find_if(buckets.begin(), buckets.end(), [&](const auto& bucket) { return bucket.index == index; });
  if (found == buckets.end()) found = buckets.insert(found, {index, 0, 0});
  found->calls += calls;
  found->bytes += bytes;
}

}  // namespace

void Cell::add(const Measures& one) {
  const bool is_first = sum.calls == 0;
  sum.calls += one.calls;
  sum.served_calls += one.served_calls;
  sum.moved += one.moved;
  sum.first = is_first ? one.first : std::min<uint64_t>(sum.first, one.first);
  sum.last = std::max<uint64_t>(sum.last, one.last);
  if (one.ns != UINT64_MAX) add_time(one.ticks, one.ns, one.last);
  if (one.asked != UINT64_MAX) count(sizes, static_cast<uint64_t>(std::bit_width(one.asked)), one.calls, one.moved);
}

void Cell::add_time(uint64_t ticks, uint64_t ns, uint64_t last) {
  sum.time += ticks;
  const bool is_first = times.empty();
  sum.min_time = is_first ? ticks : std::min<uint64_t>(sum.min_time, ticks);
  sum.max_time = std::max<uint64_t>(sum.max_time, ticks);
  sum.last = std::max<uint64_t>(sum.last, last);
  count(times, mlrun_time_bucket(ns), 1, 0);
}

Cell* CellTable::find_or_make(const CellKey& key, size_t room, uint16_t flags, bool& made) {
  const uint64_t hash = hash_of(key);
  if (const uint32_t* found = by_key_.find(hash)) return &cells_[*found];
  if (cells_.size() >= room) return nullptr;
  by_key_.at(hash) = static_cast<uint32_t>(cells_.size());
  made = true;
  Cell& cell = cells_.emplace_back();
  cell.sum.stretch = key.stretch;
  cell.sum.flags = flags;
  cell.sum.file_mode = key.type;
  return &cell;
}

Cell& CellTable::at(const CellKey& key, bool& made) {
  constexpr uint32_t kAnyStretch = UINT32_MAX;
  made = false;
  if (Cell* cell = find_or_make(key, kCells, 0, made)) return *cell;
  CellKey less = key;
  less.stretch = kAnyStretch;
  if (Cell* cell = find_or_make(less, 2 * kCells, MLRUN_SUM_NO_STRETCH, made)) return *cell;
  constexpr uint16_t kCoarseFlags = MLRUN_SUM_NO_STRETCH | MLRUN_SUM_NO_DETAIL;
  less.file = less.site = 0;
  less.stretch = kAnyStretch - 1;
  if (Cell* cell = find_or_make(less, 2 * kCells + kCoarse, kCoarseFlags, made)) return *cell;
  less.process = 0;
  return *find_or_make(less, SIZE_MAX, kCoarseFlags, made);
}

}  // namespace mlrun::sums
