// SPDX-License-Identifier: Apache-2.0
// Logs.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

namespace {

// Share of the logging time in which the driver waited because its output pipe was full.
double share_of_pipe(const Context& context) {
  const auto& pieces = context.analysis.division.pieces;
  double ns = 0;
  for (size_t i = 0; i < pieces.size(); ++i)
    ns += context.causes[i] == Cause::kLogging && pieces[i].top == blame::Top::kWaiting ? pieces[i].ns() : 0;
  return ns / context.ns_of(Cause::kLogging);
}

}  // namespace

Draft logging(const Context& context) {
  if (share_of_pipe(context) > 0.5) {
    return {.claim = "the training waited until its output was read: it prints more than the reader of its pipe takes",
            .remedy = "print less, write to a file, or read the output faster",
            .against = ""};
  }
  const bool syncs = context.timeline().thread(context.analysis.division.driver).files.syncs > 0;
  return {.claim = fmt::format("the training wrote its log itself{}{}", at_line(context, Cause::kLogging),
                               syncs ? ", synced piece by piece" : ""),
          .remedy = "log less often, without a sync after each line, or from a thread",
          .against = ""};
}

}  // namespace mlrun::findings
