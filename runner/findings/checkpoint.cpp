// SPDX-License-Identifier: Apache-2.0
// Checkpoints.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

namespace {

// Share of the checkpoint time in which the driver waited for a thread that wrote one.
double share_of_waiting(const Context& context) {
  const auto& pieces = context.analysis.division.pieces;
  double ns = 0;
  for (size_t i = 0; i < pieces.size(); ++i)
    ns += context.causes[i] == Cause::kCheckpoint && pieces[i].top != blame::Top::kOwn ? pieces[i].ns() : 0;
  return ns / context.ns_of(Cause::kCheckpoint);
}

}  // namespace

Draft checkpoint(const Context& context) {
  if (share_of_waiting(context) > 0.5) {
    return {
        .claim = fmt::format("the training waited for {}, which wrote a checkpoint", who(context, Cause::kCheckpoint)),
        .remedy = "write checkpoints less often, or smaller ones: one is not finished when the next should begin",
        .against = ""};
  }
  return {.claim = fmt::format("the training wrote checkpoints itself{}", at_line(context, Cause::kCheckpoint)),
          .remedy = "write them in the background (a copy in memory, then a thread or process), or less often",
          .against = "a copy in memory takes memory, and a crash may lose the last one"};
}

}  // namespace mlrun::findings
