// SPDX-License-Identifier: Apache-2.0
// The training thread itself asks a server for something other than data.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft remote_call(const Context& context) {
  return {.claim = fmt::format("the training thread itself asked a server and waited for its answer{}",
                               at_line(context, Cause::kRemoteCall)),
          .remedy = "ask it less often, or from another thread: metrics can be sent while the training continues",
          .against = "what the server did is not in this trace"};
}

}  // namespace mlrun::findings
