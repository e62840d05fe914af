// SPDX-License-Identifier: Apache-2.0
// Arrows between rows: from a call to the block I/O that it queued, from the launch of a kernel to the kernel. Each arrow has its own
// number, although one row may begin many. A first pass counts the rows that refer to each id. In the second pass the row with the id
// begins as many arrows, and each row that refers to it ends one. Memory: two bytes for each id that is referred to.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace mlrun::exchange {

// The number of an arrow of the table `flow`, which differs from the numbers of all links.
[[nodiscard]] constexpr uint64_t number_of_flow(uint64_t number) { return number << 3 | 7; }

// Kinds of ids. An arrow goes from the row that has the id to each row that refers to it.
enum class Link : uint8_t { kNone, kFileOp, kCall, kRequest, kLaunch, kGpuFile, kBatch };

class Links {
 public:
  // First pass: a row refers to `id`, which is not 0. `proc_id`: of launches, which are numbered within a process; of other links 0.
  void expect(Link link, int64_t proc_id, int64_t id);
  // The row with `id` begins: appends the numbers of its arrows, below 2^53.
  void begin(Link link, int64_t proc_id, int64_t id, std::vector<uint64_t>& arrows);
  // A row that refers to `id`: appends the number of the arrow that ends there, if it has begun.
  void end(Link link, int64_t proc_id, int64_t id, std::vector<uint64_t>& arrows);
  // Drops the arrows that have begun and not ended, and counts them as not drawn: a new output file begins.
  void forget_open();

  [[nodiscard]] int64_t drawn() const { return drawn_; }
  // Referring rows without an arrow: the row with the id comes later, in another output file or not at all, or more than 16,383 rows refer to it.
  [[nodiscard]] int64_t not_drawn() const { return not_drawn_; }

 private:
  static constexpr uint16_t kOpen = 0x8000, kMost = 0x3fff;
  static constexpr int kKindBits = 3, kIdBits = 36, kPageBits = 10;
  struct Page {
    uint64_t number;
    std::array<uint16_t, size_t{1} << kPageBits> counts = {};
    uint16_t& count_of(int64_t id) { return counts[size_t(id) & (counts.size() - 1)]; }
    // A small number that no other id of this kind has.
    [[nodiscard]] uint64_t id_of(int64_t id) const {
      return number << kPageBits | (uint64_t(id) & (counts.size() - 1));
    }
  };
  using Pages = std::unordered_map<uint64_t, std::unique_ptr<Page>>;
  static constexpr size_t kKinds = 7;

  static uint64_t page_key(int64_t proc_id, int64_t id) { return uint64_t(proc_id) << 40 ^ uint64_t(id) >> kPageBits; }
  static uint64_t arrow(Link link, uint64_t id, uint64_t number) {
    return number << (kIdBits + kKindBits) | id << kKindBits | uint64_t(link);
  }
  Page* find(Link link, int64_t proc_id, int64_t id);

  std::array<Pages, kKinds> pages_;
  std::array<uint64_t, kKinds> last_key_ = {};
  std::array<Page*, kKinds> last_ = {};
  int64_t drawn_ = 0, not_drawn_ = 0;
};

}  // namespace mlrun::exchange
