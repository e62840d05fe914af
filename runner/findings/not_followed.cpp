// SPDX-License-Identifier: Apache-2.0
// Waits that lead nowhere.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft not_followed(const Context& context) {
  const auto& labels = context.labels[static_cast<size_t>(Cause::kNotFollowed)];
  const auto asleep = labels.find(blame::Label::kAsleep);
  const bool sleeps = asleep != labels.end() && 2 * asleep->second > context.ns_of(Cause::kNotFollowed);
  return {.claim =
              sleeps ? fmt::format("the training waited for {}, which slept in no recorded call{}: at a mutex, perhaps",
                                   who(context, Cause::kNotFollowed), at_line(context, Cause::kNotFollowed))
                     : "the training waited, and the trace does not say for what",
          .remedy = context.timeline().has_kernel_side ? "see who waits: mlrun show TRACE blame"
                                                       : "record with --kprobes: the kernel knows who woke whom",
          .against = "",
          .also = sleeps ? std::vector<Cause>{Cause::kDataLock} : std::vector<Cause>{},
          .saved_ns = 0};
}

}  // namespace mlrun::findings
