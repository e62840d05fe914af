// SPDX-License-Identifier: Apache-2.0
// One worker holds up the others.
#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

Draft data_slow_worker(const Context& context) {
  const blame::Thread& slow = context.timeline().thread(context.slow_worker);
  return {.claim = fmt::format(
              "one worker of {} held up the others: {} was busy for {} of the training's waiting{}, the others for {} "
              "(median)",
              context.workers.size(), context.name_of(slow.thread_id), util::percent_text(context.workers.front().busy),
              at_line(context, Cause::kDataSlowWorker), util::percent_text(context.median_busy)),
          .remedy =
              "make its samples cheaper or spread them over all workers; let batches come out of order (DataLoader: "
              "in_order=False)",
          .against = "",
          .also = context.slow_for == Cause::kNone ? std::vector<Cause>{} : std::vector<Cause>{context.slow_for}};
}

}  // namespace mlrun::findings
