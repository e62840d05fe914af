// SPDX-License-Identifier: Apache-2.0
// Ranks wait for each other.
#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft rank_skew(const Context& context) {
  const int32_t thread = context.top_thread(Cause::kRankSkew);
  const blame::Timeline& timeline = context.timeline();
  if (timeline.thread(thread).proc_id == timeline.thread(context.analysis.division.driver).proc_id) {
    return {.claim =
                "this rank waited for other machines, which have ranks of this run: through " + context.name_of(thread),
            .remedy = "merge the traces of all nodes, which names the slowest rank: mlrun merge TRACE OTHER... -o NEW",
            .against = "a data server that the training itself asks would look the same",
            .also = {Cause::kDataRemote}};
  }
  return {.claim = "this rank waited for another one: " + who(context, Cause::kRankSkew),
          .remedy = "give the ranks equal work, and look at the slow rank by itself: mlrun report TRACE --driver TID",
          .against = "this finding does not show why the other rank is slow"};
}

}  // namespace mlrun::findings
