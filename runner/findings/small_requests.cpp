// SPDX-License-Identifier: Apache-2.0
// Many small reads.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft small_requests(const Context& context) {
  return {.claim = fmt::format("small requests took the time: {}", reads_text(context)),
          .remedy = "read larger pieces at a time (a larger buffer, a whole shard), or map the file",
          .against = "",
          .also = context.files_also};
}

}  // namespace mlrun::findings
