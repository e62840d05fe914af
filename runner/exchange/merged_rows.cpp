// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/merged_rows.h"

#include <algorithm>

namespace mlrun::exchange {

Status MergedRows::push(size_t table) {
  const auto more = tables_[table].next();
  if (!more) return tl::make_unexpected(more.error());
  if (!*more) return {};
  heap_.push_back({tables_[table].ts(), tables_[table].end(), table});
  std::push_heap(heap_.begin(), heap_.end(), is_later);
  return {};
}

Result<OrderedRows*> MergedRows::next() {
  if (!started_) {
    started_ = true;
    for (size_t table = 0; table < tables_.size(); ++table) {
      if (auto pushed = push(table); !pushed) return tl::make_unexpected(pushed.error());
    }
  } else if (current_ != SIZE_MAX) {
    if (auto pushed = push(current_); !pushed) return tl::make_unexpected(pushed.error());
  }
  current_ = SIZE_MAX;
  if (heap_.empty()) return nullptr;
  std::pop_heap(heap_.begin(), heap_.end(), is_later);
  current_ = heap_.back().table;
  heap_.pop_back();
  return &tables_[current_];
}

}  // namespace mlrun::exchange
