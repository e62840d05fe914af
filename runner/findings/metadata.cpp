// SPDX-License-Identifier: Apache-2.0
// Names and attributes of files.
#include <fmt/format.h>

#include "runner/findings/rule.h"
#include "runner/util/units.h"

namespace mlrun::findings {

Draft metadata(const Context& context) {
  const blame::FileUse& use = context.use;
  return {.claim = fmt::format("calls on names of files took the time{}: {} of them, {} opens, {} reads",
                               at_line(context, Cause::kMetadata), util::count_text(use.names),
                               util::count_text(use.opens), util::count_text(use.reads)),
          .remedy = "list the data set once and keep the list; do not test for files that the list has",
          .against = ""};
}

}  // namespace mlrun::findings
