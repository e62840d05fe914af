// SPDX-License-Identifier: Apache-2.0
// The processors are busy with other threads or limited by the cgroup.
#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

Draft oversubscription(const Context& context) {
  const Machine& machine = context.machine;
  Draft draft;
  draft.claim =
      fmt::format("the training thread was ready to run and had no processor: {} processors{}", machine.processors,
                  machine.idle < 0 ? "" : fmt::format(", {:.1f} idle on average", machine.idle));
  if (machine.pressure > 0)
    draft.claim += "; some thread waited for a processor in " + util::percent_text(machine.pressure) + " of the time";
  draft.remedy = "use fewer threads and workers than processors, or move other programs away";
  constexpr double kThrottledMin = 0.02;  // mean number of processors
  if (machine.throttled < kThrottledMin) return draft;
  const std::string limit = machine.quota > 0 ? fmt::format(" of {:.1f} processors", machine.quota) : "";
  draft.claim += fmt::format("; the cgroup's limit{} stopped its threads for {:.0f} % of a processor's time", limit,
                             100 * machine.throttled);
  draft.remedy = "raise the cgroup's limit on processors, or use fewer threads and workers than it allows";
  return draft;
}

}  // namespace mlrun::findings
