// SPDX-License-Identifier: Apache-2.0
// The training loads its data itself.
#include <algorithm>

#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

namespace {

// Whether most loader code in the driver is the sampler, which runs there even if the loader has workers.
bool is_of_sampler(const Context& context) {
  const blame::Timeline& timeline = context.timeline();
  int64_t with_workers = 0, all = 0;
  for (const blame::StackSample& sample : timeline.thread(context.analysis.division.driver).samples) {
    const auto frames = timeline.stacks.find(sample.stack_id);
    if (frames == timeline.stacks.end() || sample.start_ns < context.analysis.division.batches.first_ns) continue;
    const auto has = [&](const char* function) {
      return std::any_of(frames->second.begin(), frames->second.end(),
                         [&](const blame::Frame& frame) { return frame.function.ends_with(function); });
    };
    const bool puts = has("_MultiProcessingDataLoaderIter._try_put_index");
    with_workers += puts ? sample.count : 0;
    all += puts || has("_SingleProcessDataLoaderIter._next_data") ? sample.count : 0;
  }
  return with_workers > 0 && 2 * with_workers > all;
}

}  // namespace

Draft data_in_driver(const Context& context) {
  if (is_of_sampler(context)) {
    return {.claim = fmt::format("the sampler of the loader, which runs in the training thread, took the time{}",
                                 at_line(context, Cause::kDataInDriver)),
            .remedy =
                "make the sampler cheaper, or draw the order of the samples before the loop: more workers do not help",
            .against = ""};
  }
  return {.claim = fmt::format("the training thread loads its data itself{}", at_line(context, Cause::kDataInDriver)),
          .remedy = "load in workers (DataLoader: num_workers > 0) or in a thread that loads ahead of the training" +
                    more_workers(context),
          .against = context.timeline().has_samples
                         ? "code that loads is recognised by the names of its files and functions"
                         : ""};
}

}  // namespace mlrun::findings
