// SPDX-License-Identifier: Apache-2.0
// A sleep, a back-off, a rate limit.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft timer(const Context& context) {
  return {.claim = fmt::format("a sleep or a time-out took the time{}, in {}", at_line(context, Cause::kTimer),
                               who(context, Cause::kTimer)),
          .remedy = "remove the sleep, or wait for the event itself",
          .against = "if the sleep waits for or simulates a server or a device, that is the cause",
          .also = {Cause::kDataRemote}};
}

}  // namespace mlrun::findings
