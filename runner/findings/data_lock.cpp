// SPDX-License-Identifier: Apache-2.0
// Workers wait for each other at a lock.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft data_lock(const Context& context) {
  return {.claim = context.held_lock
                       ? fmt::format(
                             "the threads that feed the training waited for each other at a lock, while {} held it{}",
                             who(context, Cause::kDataLock), at_line(context, Cause::kDataLock))
                       : "the workers waited for each other at a lock between processes, the longest: " +
                             who(context, Cause::kDataLock),
          .remedy = "give each worker a file and a lock of its own, or hold the lock for a shorter time",
          .against = "the work done while holding the lock takes its time with any lock"};
}

}  // namespace mlrun::findings
