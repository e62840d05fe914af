// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/stacks.h"

#include <arrow/api.h>

#include "runner/exchange/small_table.h"

namespace mlrun::exchange {

Result<Stacks> Stacks::load(Export& job) {
  Stacks stacks;
  auto read = read_small_table(job, "frame", {"frame_id", "function", "library", "source", "label", "line", "offset"},
                               [&](const std::vector<Values>& v, int64_t row) {
                                 const auto id = size_t(v[0].number(row));
                                 if (id >= stacks.frames_.size()) stacks.frames_.resize(id + 1);
                                 stacks.frames_[id] = {std::string(v[1].text(row)),
                                                       std::string(v[2].text(row)),
                                                       std::string(v[3].text(row)),
                                                       std::string(v[4].text(row)),
                                                       v[5].number(row),
                                                       v[6].number(row)};
                               });
  if (!read) return tl::make_unexpected(read.error());
  int64_t last = 0;
  read = read_small_table(job, "stack", {"stack_id", "frame_id"}, [&](const std::vector<Values>& v, int64_t row) {
    const int64_t stack_id = v[0].number(row), frame_id = v[1].number(row);
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
