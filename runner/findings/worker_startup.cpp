// SPDX-License-Identifier: Apache-2.0
// Workers are started again.
#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

namespace {

// Time of the cause that the driver spent itself instead of waiting.
double own_ns(const Context& context) {
  const auto& pieces = context.analysis.division.pieces;
  double ns = 0;
  for (size_t i = 0; i < pieces.size(); ++i)
    ns += context.causes[i] == Cause::kWorkerStartup && pieces[i].hops == 0 ? pieces[i].ns() : 0;
  return ns;
}

}  // namespace

Draft worker_startup(const Context& context) {
  const int64_t started = later_workers(context);
  const std::string where = at_line(context, Cause::kWorkerStartup);
  if (started == 0) {
    return {.claim = "the training waited for workers that imported modules after they had started" + where,
            .remedy = "import the modules before the workers are started, and start the workers by fork",
            .against = ""};
  }
  const std::string who = started == 1 ? "a worker was" : util::count_text(started) + " workers were";
  if (2 * own_ns(context) > context.ns_of(Cause::kWorkerStartup)) {
    return {.claim = fmt::format(
                "{} started during the training; starting and preparing workers took the time of the training "
                "thread{}",
                who, where),
            .remedy =
                "make the data set and the loader once, before the epochs, and keep the workers (DataLoader: "
                "persistent_workers=True)",
            .against = "",
            .also = {Cause::kDataInDriver}};
  }
  return {.claim = fmt::format("{} started during the training, which waited until {} ready{}", who,
                               started == 1 ? "it was" : "they were", where),
          .remedy =
              "keep the workers (DataLoader: persistent_workers=True), or start them by fork; let them open their data "
              "once",
          .against = ""};
}

}  // namespace mlrun::findings
