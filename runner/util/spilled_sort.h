// SPDX-License-Identifier: Apache-2.0
// Sorts more items than memory should hold: each run of items is sorted separately and kept in spilled memory (spilled_memory.h). A pass
// over all items merges the runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "runner/util/spilled_memory.h"

namespace mlrun::util {

// Uses memory for one run, or for all items without a SpillFolder or on a full disk. Requires: a SpillFolder, if there is one, outlives the
// object.
template <typename T, typename Less = std::less<T>>
class SpilledSort {
  static_assert(std::is_trivially_copyable_v<T>);
  using Run = std::vector<T, SpillAllocator<T>>;

 public:
  static constexpr size_t kRunBytes = size_t{16} << 20;

  explicit SpilledSort(size_t run_items = kRunBytes / sizeof(T)) : run_items_(run_items) {}

  void add(const T& item) {
    if (open_.size() == run_items_) end_run();
    open_.push_back(item);
  }
  [[nodiscard]] bool empty() const { return open_.empty() && runs_.empty(); }

  // Visits the items in order. Pointers to items are valid until the sorter is destroyed.
  class Pass {
   public:
    explicit Pass(const std::vector<Run>& runs) {
      for (const Run& run : runs) heads_.push_back({run.data(), run.data() + run.size()});
      std::make_heap(heads_.begin(), heads_.end(), comes_later);
    }
    // nullptr: no more.
    const T* next() {
      if (heads_.empty()) return nullptr;
      std::pop_heap(heads_.begin(), heads_.end(), comes_later);
      Head& least = heads_.back();
      const T* item = least.at++;
      if (least.at == least.end) {
        heads_.pop_back();
      } else {
        std::push_heap(heads_.begin(), heads_.end(), comes_later);
      }
      return item;
    }

   private:
    struct Head {
      const T *at, *end;
    };
    static bool comes_later(const Head& a, const Head& b) { return Less()(*b.at, *a.at); }

    std::vector<Head> heads_;
  };

  // Goes over what has been added so far; valid until the next add().
  Pass pass() {
    if (!open_.empty()) end_run();
    return Pass(runs_);
  }

 private:
  void end_run() {
    std::sort(open_.begin(), open_.end(), Less());
    runs_.emplace_back(open_.begin(), open_.end());
    if (open_.size() < run_items_) open_ = {};
    open_.clear();
  }

  size_t run_items_;
  std::vector<T> open_;
  std::vector<Run> runs_;
};

}  // namespace mlrun::util
