// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/chrome_stacks.h"

#include <algorithm>
#include <vector>

namespace mlrun::exchange {

namespace {

constexpr size_t kDepthOfStackMax = 4096;  // of a frame that is its own parent
constexpr size_t kChromeFramesMax = size_t{1} << 20;

}  // namespace

Status ChromeStacks::learn(std::string_view key, std::string_view frame) {
  if (frames_.size() >= kChromeFramesMax) {
    ++to_.file().remarks["a frame beyond a million, left out"];
    return {};
  }
  Frame& made = frames_[std::string(key)];
  const bool is_sound = members_.visit(frame, [&](const JsonMember& field) {
    if (field.key == "name") made.name = field.text;
    if (field.key == "category") made.category = field.text;
    if (field.key == "parent") made.parent = field.text;
  });
  if (!is_sound) ++to_.file().remarks["a frame that is no JSON object"];
  return {};
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
