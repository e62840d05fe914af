// SPDX-License-Identifier: Apache-2.0
// The data files are read at random offsets.
#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

Draft random_requests(const Context& context) {
  const blame::FileUse& use = context.use;
  return {
      .claim = fmt::format("reads at random offsets took the time: {}, {} of them not where the one before ended",
                           reads_text(context), util::percent_text(use.jumps, use.reads)),
      .remedy = "shuffle in blocks: read pieces of a MiB in order and shuffle within them, or keep the data in memory",
      .against = "",
      .also = context.files_also};
}

}  // namespace mlrun::findings
