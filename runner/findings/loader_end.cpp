// SPDX-License-Identifier: Apache-2.0
// The training waits while the workers of its loader end.
#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft loader_end(const Context& context) {
  return {.claim = "the training waited for workers to end, the last of them " + who(context, Cause::kLoaderEnd),
          .remedy = "keep the workers (DataLoader: persistent_workers=True), and let them hold less when they end",
          .against = "",
          // Ending and starting workers are both the cost of not keeping them.
          .also = later_workers(context) > 0 ? std::vector<Cause>{Cause::kWorkerStartup} : std::vector<Cause>{}};
}

}  // namespace mlrun::findings
