// SPDX-License-Identifier: Apache-2.0
// The data come from a server.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft data_remote(const Context& context) {
  return {
      .claim = fmt::format("the training waited for a server, through {}", who(context, Cause::kDataRemote)),
      .remedy = "keep a copy of the data on this machine, or ask for several samples at a time and ahead of their use",
      .against = "what the server did is not in this trace"};
}

}  // namespace mlrun::findings
