// SPDX-License-Identifier: Apache-2.0
// Names the frames of a trace from the files on this machine.
#pragma once

#include <cstdint>

#include "runner/model/stack_table.h"

namespace mlrun::symbols {

// Fills function, source, line and state of every frame. `recorded_ns`: start of the run, CLOCK_REALTIME. Opens one
// file at a time. Requires: no other thread of this process uses the environment.
void symbolize(model::StackTable& stacks, int64_t recorded_ns);

}  // namespace mlrun::symbols
