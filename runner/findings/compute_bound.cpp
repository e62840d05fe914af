// SPDX-License-Identifier: Apache-2.0
// The training computes: no other cause stands out.
#include <utility>

#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

namespace {

// Causes that look like computing if neither samples nor kernel tables show what a thread did outside of calls.
std::vector<Cause> looks_the_same(const Context& context) {
  const blame::Timeline& timeline = context.timeline();
  if (timeline.has_usage || timeline.has_kernel_side || timeline.has_samples) return {};
  return {Cause::kOversubscription, Cause::kAllocation};
}

}  // namespace

Draft compute_bound(const Context& context) {
  const bool seen = context.analysis.division.driver_seen;
  std::vector<Cause> also = looks_the_same(context);
  std::string against =
      seen ? "" : "without Python stacks computing and loading in the training thread look the same: --python-stacks";
  if (!also.empty()) {
    against += against.empty() ? "" : "; ";
    against += "waiting for a processor and getting memory look like computing, too: --sample=threads";
  }
  if (!seen && context.analysis.division.batches.first_ns == 0) {
    also.insert(also.begin(), Cause::kDataInDriver);
    return {.claim =
                "the training thread waited for no other thread; it computes or loads its data itself, and this trace "
                "does not show which",
            .remedy = "record Python stacks, which show it: mlrun run --python-stacks",
            .against = std::move(against),
            .also = std::move(also),
            .saved_ns = 0};
  }
  return {.claim = fmt::format("the training computes{}; its data were there in time",
                               at_line(context, Cause::kComputeBound)),
          .remedy = "make the computing faster: data loading and files are not the limit",
          .against = std::move(against),
          .also = std::move(also),
          .saved_ns = 0};
}

}  // namespace mlrun::findings
