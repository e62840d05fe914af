// SPDX-License-Identifier: Apache-2.0
// Workers are started again.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft worker_startup(const Context& context) {
  return {.claim = fmt::format("workers were started during the training and the training waited for them{}",
                               at_line(context, Cause::kWorkerStartup)),
          .remedy = "keep the workers (DataLoader: persistent_workers=True), or start them by fork",
          .against = ""};
}

}  // namespace mlrun::findings
