// SPDX-License-Identifier: Apache-2.0
// The driver waited for something that the trace does not show.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft not_followed(const Context& context) {
  const auto& labels = context.labels[static_cast<size_t>(Cause::kNotFollowed)];
  const auto asleep = labels.find(blame::Label::kAsleep);
  const bool sleeps = asleep != labels.end() && 2 * asleep->second > context.ns_of(Cause::kNotFollowed);
  return {.claim = sleeps
                       ? fmt::format(
                             "the training waited for {}, which slept outside of recorded calls{}, perhaps at a mutex",
                             who(context, Cause::kNotFollowed), at_line(context, Cause::kNotFollowed))
                       : "the training waited, and the trace does not show for which thread",
          .remedy = context.timeline().has_kernel_side ? "see which threads wait: mlrun show TRACE blame"
                                                       : "record with --kprobes, which shows which thread woke another",
          .against = "",
          .also = sleeps ? std::vector<Cause>{Cause::kDataLock} : std::vector<Cause>{},
          .saved_ns = 0};
}

}  // namespace mlrun::findings
