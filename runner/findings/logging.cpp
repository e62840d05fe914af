// SPDX-License-Identifier: Apache-2.0
// Logs.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft logging(const Context& context) {
  return {.claim = fmt::format("the training wrote its log itself{}, synced piece by piece",
                               at_line(context, Cause::kLogging)),
          .remedy = "log less often, without a sync after each line, or from a thread",
          .against = ""};
}

}  // namespace mlrun::findings
