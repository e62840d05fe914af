// SPDX-License-Identifier: Apache-2.0
// Rows with texts, sorted by a time in bounded memory: beyond a limit they go to an unnamed file as sorted runs, which are merged
// when they are read. Rows of one time keep their order.
//
//   SortedRows<Row, 2> rows(folder, 32 << 20);
//   rows.add(end_ns, row, {name, args});
//   rows.for_each([&](int64_t end_ns, const Row& row, const std::array<std::string_view, 2>& texts) -> Status {...});
//
// Rows go from one of these to another as they are stored, without being taken apart: for_each_stored() and add_stored().
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

#include "runner/exchange/import/run_file.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

// Of rows whose last members are the views of their texts: what is stored of them beside the texts.
template <typename Row, size_t kTexts>
inline constexpr size_t kBytesBeforeTexts = sizeof(Row) - kTexts * sizeof(std::string_view);

// `kStored`: bytes of a row that are kept, from its first one.
template <typename Row, size_t kTexts, size_t kStored = sizeof(Row)>
class SortedRows {
  static_assert(std::is_trivially_copyable_v<Row>);

 public:
  using Texts = std::array<std::string_view, kTexts>;
  // As a limit: rows stay in memory, which is kept for those that come after for_each().
  static constexpr size_t kUnlimited = SIZE_MAX;

  SortedRows(std::string folder, size_t limit_bytes) : file_(std::move(folder)), limit_(limit_bytes) {}

  [[nodiscard]] int64_t size() const { return rows_; }

  Status add(int64_t time_ns, const Row& row, const Texts& texts) {
    begin(time_ns);
    std::array<char, kHeadBytes> head;
    const Sizes sizes = sizes_of(texts);
    std::memcpy(head.data(), &time_ns, sizeof time_ns);
    std::memcpy(head.data() + kRowAt, &row, kStored);
    std::memcpy(head.data() + kSizesAt, sizes.data(), sizeof sizes);
    bytes_.append(head.data(), head.size());
    for (const std::string_view text : texts) bytes_.append(text);
    return end();
  }
  // `row` takes the place of the one in `stored`, whose texts it keeps.
  Status add_stored(int64_t time_ns, const Row& row, std::string_view stored) {
    const size_t at = bytes_.size();
    begin(time_ns);
    bytes_.append(stored);
    std::memcpy(bytes_.data() + at, &time_ns, sizeof time_ns);
    std::memcpy(bytes_.data() + at + kRowAt, &row, kStored);
    return end();
  }

  // In order of time; the rows are gone afterwards.
  template <typename Visit>
  Status for_each(Visit visit) {
    return for_each_stored(
        [&](int64_t time_ns, std::string_view stored) { return show(time_ns, stored.data(), visit); });
  }
  // The same as visit(time, stored).
  template <typename Visit>
  Status for_each_stored(Visit visit) {
    sort();
    if (file_.runs().empty()) {
      for (const auto& [time, at] : order_) {
        const char* from = bytes_.data() + at;
        if (Status visited = visit(time, std::string_view(from, size_of(from))); !visited) return visited;
      }
      limit_ == kUnlimited ? clear() : release();
      return {};
    }
    if (Status spilled = spill(); !spilled) return spilled;
    release();
    return merge(visit);
  }

  // The fixed part of a stored row; the texts follow behind it.
  [[nodiscard]] static Row row_of(std::string_view stored) {
    Row row{};
    std::memcpy(static_cast<void*>(&row), stored.data() + kRowAt, kStored);
    return row;
  }
  [[nodiscard]] static size_t text_bytes(std::string_view stored) { return stored.size() - kHeadBytes; }

 private:
  static constexpr size_t kReservedMax = size_t{40} << 20;

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
  void begin(int64_t time_ns) {
    // Once and for all: pages are there only when they are used, and growing copies them.
    if (bytes_.empty()) bytes_.reserve(limit_ == kUnlimited ? kReservedMax : limit_);
    if (!order_.empty() && time_ns < order_.back().first) is_sorted_ = false;
    order_.emplace_back(time_ns, bytes_.size());
    ++rows_;
  }
  Status end() { return bytes_.size() + order_.size() * sizeof(order_[0]) < limit_ ? Status() : spill(); }
  template <typename Visit>
  static Status show(int64_t time_ns, const char* at, Visit& visit) {
    const Row row = row_of({at, kHeadBytes});
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
    if (!is_sorted_) std::sort(order_.begin(), order_.end());  // by place where the times are equal
    is_sorted_ = true;
  }
  void clear() {
    order_.clear();
    bytes_.clear();
    is_sorted_ = true;
  }
  void release() {
    order_ = {};
    bytes_ = {};
    is_sorted_ = true;
  }
  Status spill() {
    if (order_.empty()) return {};
    sort();
    if (Status begun = file_.begin_run(); !begun) return begun;
    for (const auto& [time, at] : order_) {
      const char* from = bytes_.data() + at;
      file_.write({from, size_of(from)});
    }
    clear();
    return file_.end_run();
  }
  template <typename Visit>
  Status merge(Visit& visit) {
    using Next = std::pair<int64_t, size_t>;  // time, run
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    std::vector<RunFile::Reader> readers = file_.readers();
    const auto look = [&](size_t run) -> Status {
      auto head = readers[run].peek(kHeadBytes);
      if (!head) return tl::make_unexpected(head.error());
      if (head->empty()) return {};
      int64_t time = 0;
      std::memcpy(&time, head->data(), sizeof time);
      next.emplace(time, run);
      return {};
    };
    for (size_t run = 0; run < readers.size(); ++run) {
      if (Status seen = look(run); !seen) return seen;
    }
    while (!next.empty()) {
      const auto [time_ns, run] = next.top();
      next.pop();
      const auto head = readers[run].peek(kHeadBytes);
      if (!head) return tl::make_unexpected(head.error());
      const auto whole = readers[run].peek(size_of(head->data()));
      if (!whole) return tl::make_unexpected(whole.error());
      if (Status visited = visit(time_ns, *whole); !visited) return visited;
      readers[run].skip(whole->size());
      if (Status seen = look(run); !seen) return seen;
    }
    return {};
  }

  RunFile file_;
  size_t limit_;
  int64_t rows_ = 0;
  bool is_sorted_ = true;
  std::vector<std::pair<int64_t, size_t>> order_;  // time, place in bytes_
  std::string bytes_;
};

}  // namespace mlrun::exchange
