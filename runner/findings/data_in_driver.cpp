// SPDX-License-Identifier: Apache-2.0
// The training loads its data itself.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft data_in_driver(const Context& context) {
  return {.claim = fmt::format("the training thread loads its data itself{}", at_line(context, Cause::kDataInDriver)),
          .remedy = "load in workers (DataLoader: num_workers > 0) or in a thread that is ahead of the training" +
                    more_workers(context),
          .against =
              context.timeline().has_looks ? "which code loads is known by the names of its files and functions" : ""};
}

}  // namespace mlrun::findings
