// SPDX-License-Identifier: Apache-2.0
// Converts Arrow's errors to Error.
#pragma once

#include <string>

#include <arrow/status.h>

#include "runner/util/result.h"

namespace mlrun::trace {

[[nodiscard]] inline tl::unexpected<Error> arrow_error(const std::string& what, const arrow::Status& status) {
  return fail("cannot " + what + ": " + status.message());
}

}  // namespace mlrun::trace
