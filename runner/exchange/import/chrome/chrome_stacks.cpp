// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/chrome_stacks.h"

#include <algorithm>
#include <vector>

namespace mlrun::exchange {

namespace {

constexpr size_t kDepthOfStackMax = 255;

}  // namespace

ChromeStacks::ChromeStacks(TraceMaker& to, std::string_view stack_frames) : to_(to) {
  if (stack_frames.empty()) return;
  JsonMembers inner;
  members_.visit(stack_frames, [&](const JsonMember& member) {
    Frame& frame = frames_[std::string(member.key)];
    inner.visit(member.raw, [&](const JsonMember& field) {
      if (field.key == "name") frame.name = field.text;
      if (field.key == "category") frame.category = field.text;
      if (field.key == "parent") frame.parent = field.text;
    });
  });
}

int32_t ChromeStacks::stack(std::string_view of) {
  std::vector<model::FrameRow> rows;
  const auto add = [&](std::string_view name, std::string_view category) {
    model::FrameRow& row = rows.emplace_back();
    row.function = name;
    row.file = to_.library(std::string(category));
    row.state = model::FrameState::kNamed;
  };
  if (of.starts_with('[')) {
    members_.visit_array(of, [&](const JsonMember& element) { add(element.text, {}); });
    std::reverse(rows.begin(), rows.end());
    return to_.stack(rows);
  }
  for (auto found = frames_.find(std::string(of)); found != frames_.end() && rows.size() < kDepthOfStackMax;
       found = frames_.find(found->second.parent)) {
    add(found->second.name, found->second.category);
  }
  return to_.stack(rows);
}

}  // namespace mlrun::exchange
