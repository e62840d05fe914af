// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/frame_names.h"

#include <algorithm>

#include <fmt/format.h>

namespace mlrun::summary {

std::string frame_name(const model::FrameRow& frame) {
  if (!frame.function.empty()) return frame.function;
  return frame.file == 0 ? "code made at run time" : fmt::format("+0x{:x}", frame.offset);
}

std::string frames_text(const model::StackTable& stacks, int32_t stack_id) {
  if (stack_id <= 0 || static_cast<size_t>(stack_id) > stacks.stacks.size()) return {};
  const auto frames = stacks.frames_of(stack_id);
  std::string text;
  for (size_t i = 0; i < std::min(frames.size(), kFramesNamed); ++i) {
    const model::FrameRow& frame = stacks.frame(frames[i]);
    const std::string& library = stacks.library(frame);
    if (i > 0) text += " < ";
    text += frame_name(frame);
    if (!library.empty()) text += " (" + library.substr(library.rfind('/') + 1) + ")";
  }
  return frames.size() > kFramesNamed ? text + " < ..." : text;
}

}  // namespace mlrun::summary
