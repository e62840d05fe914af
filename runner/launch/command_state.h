// SPDX-License-Identifier: Apache-2.0
// Settings that the command has and mlrun itself has not: resource limits, CPUs, and the source of its memory.
#pragma once

#include "runner/launch/own_limits.h"
#include "runner/launch/placement.h"

namespace mlrun::launch {

struct CommandState {
  OwnLimits limits;
  Placement placement;

  // To be called in the child before exec, or in this process before it becomes the command. 0, or an errno.
  [[nodiscard]] int enter() const {
    limits.restore();
    return placement.apply();
  }
};

}  // namespace mlrun::launch
