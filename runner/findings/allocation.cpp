// SPDX-License-Identifier: Apache-2.0
// Time goes into allocating and freeing memory.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft allocation(const Context& context) {
  return {.claim = fmt::format("allocating and freeing memory took the time{}", at_line(context, Cause::kAllocation)),
          .remedy = "reuse buffers, or set MALLOC_TRIM_THRESHOLD_ and MALLOC_MMAP_THRESHOLD_ so that large blocks stay",
          .against = ""};
}

}  // namespace mlrun::findings
