// SPDX-License-Identifier: Apache-2.0
// Workers wait for reads that a device serves.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft data_device(const Context& context) {
  return {.claim = fmt::format("the training waited for reads of data files by {}: {}", workers_text(context),
                               reads_text(context)),
          .remedy = "read ahead and in larger requests, keep the data in memory or on a faster device" +
                    more_workers(context),
          .against = context.timeline().has_kernel_side
                         ? ""
                         : "calls alone cannot tell the device from other waits in the kernel: --kprobes can",
          .also = context.files == Cause::kDataDevice ? context.files_also : std::vector<Cause>{}};
}

}  // namespace mlrun::findings
