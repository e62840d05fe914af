// SPDX-License-Identifier: Apache-2.0
// Workers are started again.
#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

Draft worker_startup(const Context& context) {
  int64_t started = 0;
  for (const blame::Process& process : context.timeline().processes) {
    const bool is_later = process.main != 0 && process.first_ns > context.analysis.division.batches.first_ns;
    started += is_later && context.analysis.divider->chain().is_worker(process.proc_id) ? 1 : 0;
  }
  const std::string where = at_line(context, Cause::kWorkerStartup);
  if (started == 0) {
    return {.claim = "the training waited for workers that imported modules after they had started" + where,
            .remedy = "import them before the workers are started, and start these by fork",
            .against = ""};
  }
  const std::string who = started == 1 ? "a worker was" : summary::count_text(started) + " workers were";
  return {.claim = fmt::format("{} started during the training, which waited for {}{}", who,
                               started == 1 ? "it" : "them", where),
          .remedy = "keep the workers (DataLoader: persistent_workers=True), or start them by fork",
          .against = ""};
}

}  // namespace mlrun::findings
