// SPDX-License-Identifier: Apache-2.0
// The processors are busy otherwise.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft oversubscription(const Context& context) {
  return {.claim = fmt::format(
              "the training thread was ready to run and had no processor: {} processors, {:.1f} idle on average",
              context.machine.processors, context.machine.idle < 0 ? 0.0 : context.machine.idle),
          .remedy = "use fewer threads and workers than processors, or move other programs away",
          .against = ""};
}

}  // namespace mlrun::findings
