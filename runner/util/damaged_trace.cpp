// SPDX-License-Identifier: Apache-2.0
#include "runner/util/damaged_trace.h"

namespace mlrun::util {

tl::unexpected<Error> damaged_trace(const std::string& trace_folder, const std::string& what) {
  return fail("the trace " + trace_folder + " is damaged: " + what +
              "; copy it again from an undamaged copy, or make it again with mlrun recover if it was recorded with "
              "--keep-raw");
}

}  // namespace mlrun::util
