// SPDX-License-Identifier: Apache-2.0
// Checkpoints.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft checkpoint(const Context& context) {
  return {.claim = fmt::format("the training wrote checkpoints itself{}", at_line(context, Cause::kCheckpoint)),
          .remedy = "write them in the background (a copy in memory, then a thread or process), or less often",
          .against = "a copy in memory takes memory, and a crash may lose the last one"};
}

}  // namespace mlrun::findings
