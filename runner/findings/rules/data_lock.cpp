// SPDX-License-Identifier: Apache-2.0
// Workers wait for each other at a lock.
#include <fmt/format.h>

#include "runner/findings/rules/rule.h"

namespace mlrun::findings {

Draft data_lock(const Context& context) {
  return {.claim = fmt::format("the workers waited for each other at a file lock, {} the longest",
                               who(context, Cause::kDataLock)),
          .remedy = "give each worker a file of its own, or hold the lock for a shorter time",
          .against = "what the holder of the lock did meanwhile is a finding of its own"};
}

}  // namespace mlrun::findings
