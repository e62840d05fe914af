// SPDX-License-Identifier: Apache-2.0
// Batches are pickled, copied and handed over.
#include <fmt/format.h>

#include "runner/findings/rule.h"

namespace mlrun::findings {

Draft data_serialisation(const Context& context) {
  return {.claim = fmt::format("handing batches over took the time: pickling, copying and unpickling{}",
                               at_line(context, Cause::kDataSerialisation)),
          .remedy =
              "hand over tensors in shared memory or a few large arrays instead of many objects, or index a file that "
              "all workers map",
          .against = ""};
}

}  // namespace mlrun::findings
