// SPDX-License-Identifier: Apache-2.0
// Ranks wait for each other.
#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft rank_skew(const Context& context) {
  return {.claim = "this rank waited for another one: " + who(context, Cause::kRankSkew),
          .remedy = "give the ranks equal work, and look at the slow rank by itself: mlrun report TRACE --driver TID",
          .against = "the slow rank's own cause is not in this finding"};
}

}  // namespace mlrun::findings
