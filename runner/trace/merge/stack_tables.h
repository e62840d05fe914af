// SPDX-License-Identifier: Apache-2.0
// Writes the tables `stack` (stacks as lists of stack frames) and `frame` (stack frames).
#pragma once

#include <string>

#include "runner/model/stack_table.h"
#include "runner/util/result.h"

namespace mlrun::trace {

Status write_stacks(const model::StackTable& stacks, const std::string& trace_folder);
Status write_frames(const model::StackTable& stacks, const std::string& trace_folder);

}  // namespace mlrun::trace
