// SPDX-License-Identifier: Apache-2.0
// One worker holds up the others.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft data_slow_worker(const Context& context) {
  const blame::Thread& slow = context.timeline().thread(context.slow_worker);
  return {
      .claim =
          fmt::format("one worker held up all: {} was busy {:.0f} % of the waiting, the others {:.0f} % (median){}",
                      context.name_of(slow.thread_id), 100 * context.workers.front().busy, 100 * context.median_busy,
                      at_line(context, Cause::kDataSlowWorker)),
      .remedy = "let batches come out of order (DataLoader: in_order=False), spread the slow samples, or prefetch more",
      .against = ""};
}

}  // namespace mlrun::findings
