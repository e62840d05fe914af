// SPDX-License-Identifier: Apache-2.0
// Nothing else stands out.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft compute_bound(const Context& context) {
  if (!context.analysis.division.driver_seen && context.analysis.division.batches.first_ns == 0) {
    return {.claim =
                "the training thread waited for no other thread; it computes or loads its data itself, and this trace "
                "does not show which",
            .remedy = "record Python stacks, which show it: mlrun run --python-stacks",
            .against = "without Python stacks computing and loading in the training thread look the same",
            .also = {Cause::kDataInDriver},
            .saved_ns = 0};
  }
  return {.claim = fmt::format("the training computes{}; its data were there in time",
                               at_line(context, Cause::kComputeBound)),
          .remedy = "make that line faster: data loading and files are not the limit",
          .against =
              context.analysis.division.driver_seen
                  ? ""
                  : "without Python stacks computing and loading in the training thread look the same: --python-stacks",
          .saved_ns = 0};
}

}  // namespace mlrun::findings
