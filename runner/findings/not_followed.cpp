// SPDX-License-Identifier: Apache-2.0
// Waits that lead nowhere.
#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft not_followed(const Context& context) {
  return {.claim = "the training waited, and the trace does not say for what",
          .remedy = context.timeline().has_kernel_side ? "see who waits: mlrun show TRACE blame"
                                                       : "record with --kprobes: the kernel knows who woke whom",
          .against = "",
          .saved_ns = 0};
}

}  // namespace mlrun::findings
