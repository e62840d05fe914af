// SPDX-License-Identifier: Apache-2.0
// Frames of stacks as a person reads them.
#pragma once

#include <string>

#include "runner/model/stack_table.h"

namespace mlrun::summary {

// The function; one without a name is told by where it goes on.
[[nodiscard]] std::string frame_name(const model::FrameRow& frame);

// "inner (libx.so) < outer (app)", the first kFramesTold of a stack; empty: stack_id is 0, or none.
inline constexpr size_t kFramesTold = 32;
[[nodiscard]] std::string frames_text(const model::StackTable& stacks, int32_t stack_id);

}  // namespace mlrun::summary
