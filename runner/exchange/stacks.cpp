// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/stacks.h"

#include <arrow/api.h>

#include "runner/exchange/each_row.h"

namespace mlrun::exchange {

Result<Stacks> Stacks::load(Export& job) {
  Stacks stacks;
  auto read = each_row(job, "frame", {"frame_id", "function", "library", "source", "label", "line", "offset"},
                       [&](const Row& row) {
                         const auto id = size_t(row.number(0));
                         if (id >= stacks.frames_.size()) stacks.frames_.resize(id + 1);
                         stacks.frames_[id] = {std::string(row.text(1)),
                                               std::string(row.text(2)),
                                               std::string(row.text(3)),
                                               std::string(row.text(4)),
                                               row.number(5),
                                               row.number(6)};
                       });
  if (!read) return tl::make_unexpected(read.error());
  int64_t last = 0;
  read = each_row(job, "stack", {"stack_id", "frame_id"}, [&](const Row& row) {
    const int64_t stack_id = row.number(0), frame_id = row.number(1);
    if (size_t(frame_id) >= stacks.frames_.size()) return;
    Range& range = stacks.stacks_[stack_id];
    if (stack_id != last) range = {stacks.frame_ids_.size(), 0};
    last = stack_id;
    stacks.frame_ids_.push_back(int32_t(frame_id));
    ++range.count;
  });
  if (!read) return tl::make_unexpected(read.error());
  return stacks;
}

std::span<const int32_t> Stacks::frames_of(int64_t stack_id) const {
  const auto found = stacks_.find(stack_id);
  if (found == stacks_.end()) return {};
  return std::span(frame_ids_).subspan(found->second.begin, found->second.count);
}

}  // namespace mlrun::exchange
