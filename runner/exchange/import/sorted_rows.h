// SPDX-License-Identifier: Apache-2.0
// Sorts rows with texts by a time in bounded memory: beyond a limit they go to an unnamed file as sorted runs, which are merged
// when they are read. Rows of the same time keep their order.
//
//   SortedRows<Row, 2> rows(folder, 32 << 20);
//   rows.add(end_ns, row, {name, args});
//   rows.for_each([&](int64_t end_ns, const Row& row, const std::array<std::string_view, 2>& texts) -> Status {...});
//
// for_each_stored(), add_stored() and free_visited() pass rows from one SortedRows to another without a copy.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "runner/exchange/import/row_blocks.h"
#include "runner/exchange/import/run_file.h"
#include "runner/util/prefetch.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

// Bytes of a row before the views of its texts, for `kStored`: the views are not stored. Requires: they are its last members.
template <typename Row, size_t kTexts>
inline constexpr size_t kBytesBeforeTexts = sizeof(Row) - kTexts * sizeof(std::string_view);

// `kStored`: bytes of a row that are kept, from its first one.
template <typename Row, size_t kTexts, size_t kStored = sizeof(Row)>
class SortedRows {
  static_assert(std::is_trivially_copyable_v<Row>);

 public:
  using Texts = std::array<std::string_view, kTexts>;
  // As a limit: rows stay in memory. for_each() keeps the memory for later rows.
  static constexpr size_t kUnlimited = SIZE_MAX;

  SortedRows(std::string folder, size_t limit_bytes) : file_(std::move(folder)), limit_(limit_bytes) {}

  [[nodiscard]] int64_t size() const { return rows_; }

  Status add(int64_t time_ns, const Row& row, const Texts& texts) {
    const Sizes sizes = sizes_of(texts);
    size_t size = kHeadBytes;
    for (const uint32_t bytes : sizes) size += bytes;
    char* to = blocks_.add(size);
    set_row(to, time_ns, row);
    std::memcpy(to + kSizesAt, sizes.data(), sizeof sizes);
    to += kHeadBytes;
    for (const std::string_view text : texts) to = std::copy(text.begin(), text.end(), to);
    return refer(time_ns, to - size);
  }
  // Replaces the row in `stored`, whose texts are kept, and adds it. The memory of `stored` must stay valid until for_each() has ended.
  Status add_stored(int64_t time_ns, const Row& row, char* stored) {
    set_row(stored, time_ns, row);
    return refer(time_ns, stored);
  }

  // Calls visit(time, row, texts) in the order of times, and removes the rows.
  template <typename Visit>
  Status for_each(Visit visit) {
    constexpr size_t kRowsPerStep = 1024;
    size_t shown = 0;
    const auto put = [&](int64_t time_ns, char* stored) -> Status {
      if (++shown % kRowsPerStep == 0) free_visited();
      return show(time_ns, stored, visit);
    };
    Status all = for_each_stored(put);
    free_visited();
    return all;
  }
  // Calls visit(time, stored) in the order of times. `stored` stays valid until free_visited().
  template <typename Visit>
  Status for_each_stored(Visit visit) {
    if (file_.runs().empty()) {
      sort();
      for (size_t i = 0; i < order_.size(); ++i) {
        if (Status visited = visit(order_[i].first, ahead(i)); !visited) return visited;
      }
    } else {
      if (Status spilled = spill(); !spilled) return spilled;
      release();
      if (Status merged = merge(visit); !merged) return merged;
    }
    is_visited_ = true;
    return {};
  }
  // Frees the rows that were visited.
  void free_visited() {
    for (RunFile::Reader& reader : readers_) reader.free_skipped();
    if (is_visited_) limit_ == kUnlimited ? clear() : release();
  }

  // The fixed part of a stored row; the texts follow behind it.
  [[nodiscard]] static Row row_of(const char* stored) {
    Row row{};
    std::memcpy(static_cast<void*>(&row), stored + kRowAt, kStored);
    return row;
  }
  [[nodiscard]] static size_t text_bytes(const char* stored) { return size_of(stored) - kHeadBytes; }

 private:
  // A stored row: its time, the row, the sizes of its texts, and the texts.
  using Sizes = std::array<uint32_t, kTexts>;
  static constexpr size_t kRowAt = sizeof(int64_t), kSizesAt = kRowAt + kStored, kHeadBytes = kSizesAt + sizeof(Sizes);

  static Sizes sizes_of(const Texts& texts) {
    Sizes sizes{};
    for (size_t i = 0; i < kTexts; ++i) sizes[i] = static_cast<uint32_t>(texts[i].size());
    return sizes;
  }
  static size_t size_of(const char* at) {
    Sizes sizes;
    std::memcpy(sizes.data(), at + kSizesAt, sizeof sizes);
    size_t size = kHeadBytes;
    for (const uint32_t bytes : sizes) size += bytes;
    return size;
  }
  static void set_row(char* stored, int64_t time_ns, const Row& row) {
    std::memcpy(stored, &time_ns, sizeof time_ns);
    std::memcpy(stored + kRowAt, &row, kStored);
  }
  Status refer(int64_t time_ns, char* stored) {
    if (!order_.empty() && time_ns < order_.back().first) is_sorted_ = false;
    order_.emplace_back(time_ns, static_cast<uint32_t>(places_.size()));
    places_.push_back(stored);
    ++rows_;
    constexpr size_t kBytesOfPlace = sizeof order_[0] + sizeof places_[0];
    return blocks_.bytes() + places_.size() * kBytesOfPlace < limit_ ? Status() : spill();
  }
  // The `i`th row by time. Rows may be anywhere in memory, so a later row is prefetched.
  char* ahead(size_t i) const {
    constexpr size_t kAhead = 12;
    if (i + kAhead < order_.size()) {
      const char* later = places_[order_[i + kAhead].second];
      for (size_t line = 0; line < kHeadBytes + 2 * util::kCacheLineBytes; line += util::kCacheLineBytes)
        util::prefetch(later + line);
    }
    return places_[order_[i].second];
  }
  template <typename Visit>
  static Status show(int64_t time_ns, const char* at, Visit& visit) {
    const Row row = row_of(at);
    Sizes sizes;
    std::memcpy(sizes.data(), at + kSizesAt, sizeof sizes);
    at += kHeadBytes;
    Texts texts;
    for (size_t i = 0; i < kTexts; ++i) {
      texts[i] = {at, sizes[i]};
      at += sizes[i];
    }
    return visit(time_ns, row, std::as_const(texts));
  }
  void sort() {
    if (!is_sorted_) std::sort(order_.begin(), order_.end());  // at equal times by index, so in their order
    is_sorted_ = true;
  }
  void clear() {
    order_.clear();
    places_.clear();
    blocks_.clear();
    is_sorted_ = true;
    is_visited_ = false;
  }
  void release() {
    clear();
    decltype(order_)().swap(order_);
    decltype(places_)().swap(places_);
    blocks_ = RowBlocks();
    readers_.clear();
  }
  Status spill() {
    if (order_.empty()) return {};
    sort();
    if (Status begun = file_.begin_run(); !begun) return begun;
    for (size_t i = 0; i < order_.size();) {
      const char* from = ahead(i);
      size_t size = size_of(from);
      // Rows that are adjacent in memory are written at once.
      for (++i; i < order_.size() && places_[order_[i].second] == from + size; ++i) size += size_of(from + size);
      file_.write({from, size});
    }
    clear();
    return file_.end_run();
  }
  template <typename Visit>
  Status merge(Visit& visit) {
    using Next = std::pair<int64_t, size_t>;  // time, run
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    readers_ = file_.readers();
    // The time of a run's next row; false at its end.
    const auto look = [&](size_t run, Next& at) -> Result<bool> {
      const auto head = readers_[run].peek(kHeadBytes);
      if (!head) return tl::make_unexpected(head.error());
      at.second = run;
      if (*head != nullptr) std::memcpy(&at.first, *head, sizeof at.first);
      return *head != nullptr;
    };
    for (size_t run = 0; run < readers_.size(); ++run) {
      Next first;
      const auto is_there = look(run, first);
      if (!is_there) return tl::make_unexpected(is_there.error());
      if (*is_there) next.push(first);
    }
    while (!next.empty()) {
      Next now = next.top();
      next.pop();
      // Reads this run as long as no other run has an earlier row.
      for (;;) {
        RunFile::Reader& reader = readers_[now.second];
        const auto head = reader.peek(kHeadBytes);
        if (!head) return tl::make_unexpected(head.error());
        const size_t size = size_of(*head);
        const auto whole = reader.peek(size);
        if (!whole) return tl::make_unexpected(whole.error());
        if (Status visited = visit(now.first, *whole); !visited) return visited;
        reader.skip(size);
        const auto is_there = look(now.second, now);
        if (!is_there) return tl::make_unexpected(is_there.error());
        if (!*is_there) break;
        if (!next.empty() && next.top() < now) {
          next.push(now);
          break;
        }
      }
    }
    return {};
  }

  RunFile file_;
  size_t limit_;
  int64_t rows_ = 0;
  bool is_sorted_ = true, is_visited_ = false;
  std::vector<std::pair<int64_t, uint32_t>> order_;  // time, index in places_
  std::vector<char*> places_;
  RowBlocks blocks_;
  std::vector<RunFile::Reader> readers_;
};

}  // namespace mlrun::exchange
