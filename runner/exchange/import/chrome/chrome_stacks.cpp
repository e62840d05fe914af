// SPDX-License-Identifier: Apache-2.0
#include "runner/exchange/import/chrome/chrome_stacks.h"

#include <algorithm>
#include <vector>

namespace mlrun::exchange {

namespace {

constexpr size_t kDepthOfStackMax = 4096;  // ends the search if a frame is its own ancestor
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

int32_t ChromeStacks::stack_of_array(std::string_view frames) {
  std::vector<model::FrameRow> rows;
  members_.visit_array(frames, [&](const JsonMember& element) {
    model::FrameRow& row = rows.emplace_back();
    row.function = element.text;
    row.state = model::FrameState::kNamed;
  });
  std::reverse(rows.begin(), rows.end());
  return to_.stack(rows);
}

int32_t ChromeStacks::stack_of_frame(const std::string& key) {
  std::vector<model::FrameRow> rows;
  for (auto found = frames_.find(key); found != frames_.end() && rows.size() < kDepthOfStackMax;
       found = frames_.find(found->second.parent)) {
    found->second.is_used = true;
    model::FrameRow& row = rows.emplace_back();
    row.function = found->second.name;
    row.file = to_.library(found->second.category);
    row.state = model::FrameState::kNamed;
  }
  return to_.stack(rows);
}

int32_t ChromeStacks::of(const ChromeEvent& event) {
  if (!event.stack.empty()) return stack_of_array(event.stack);
  if (event.stack_frame.empty()) return 0;
  const auto [found, is_new] = later_.try_emplace(std::string(event.stack_frame), 0);
  if (is_new && later_.size() > kChromeFramesMax) {
    later_.erase(found);
    ++to_.file().remarks["a stack beyond a million, left out"];
    return 0;
  }
  if (is_new) found->second = to_.later_stack();
  return found->second;
}

void ChromeStacks::settle() {
  for (const auto& [key, later] : later_) {
    const int32_t stack_id = stack_of_frame(key);
    if (stack_id == 0) ++to_.file().remarks["a stack with a frame that stackFrames does not have"];
    to_.settle_stack(later, stack_id);
  }
  const auto unused =
      std::count_if(frames_.begin(), frames_.end(), [](const auto& one) { return !one.second.is_used; });
  if (unused != 0) to_.file().remarks["a frame in stackFrames that no stack has"] += unused;
}

}  // namespace mlrun::exchange
