// SPDX-License-Identifier: Apache-2.0
// Memory is taken and given back.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft allocation(const Context& context) {
  return {.claim = fmt::format("getting and giving back memory took the time{}", at_line(context, Cause::kAllocation)),
          .remedy = "reuse buffers, or set MALLOC_TRIM_THRESHOLD_ and MALLOC_MMAP_THRESHOLD_ so that large blocks stay",
          .against = ""};
}

}  // namespace mlrun::findings
