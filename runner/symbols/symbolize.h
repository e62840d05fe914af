// SPDX-License-Identifier: Apache-2.0
// Names the frames of a trace from the files that are on this machine now.
#pragma once

#include <cstdint>

#include "runner/model/stack_table.h"

namespace mlrun::symbols {

// Fills function, source, line and state of every frame. `recorded_ns`: when the run began, CLOCK_REALTIME. One file is
// open at a time. Requires: no other thread of this process uses the environment.
void symbolize(model::StackTable& stacks, int64_t recorded_ns);

}  // namespace mlrun::symbols
