// SPDX-License-Identifier: Apache-2.0
// Stack frames as text.
#pragma once

#include <string>

#include "runner/model/stack_table.h"

namespace mlrun::summary {

// The name of the frame's function. If it has none: the offset in its file, or "code made at run time" if it is in no file.
[[nodiscard]] std::string frame_name(const model::FrameRow& frame);

// "inner (libx.so) < outer (app)", the first kFramesNamed of a stack; empty: stack_id is 0, or unknown.
inline constexpr size_t kFramesNamed = 32;
[[nodiscard]] std::string frames_text(const model::StackTable& stacks, int32_t stack_id);

}  // namespace mlrun::summary
