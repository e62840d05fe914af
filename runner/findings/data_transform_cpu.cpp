// SPDX-License-Identifier: Apache-2.0
// Workers compute.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft data_transform_cpu(const Context& context) {
  return {
      .claim = fmt::format("the training waited for samples that were computed{}; {}",
                           at_line(context, Cause::kDataTransformCpu), workers_text(context)),
      .remedy = "make that line cheaper (vectorise it, decode less, or prepare the data once)" + more_workers(context),
      .against =
          context.machine.idle < 0 ? "idle processors were not measured: whether more workers help is not known" : ""};
}

}  // namespace mlrun::findings
