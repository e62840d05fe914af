// SPDX-License-Identifier: Apache-2.0
// Converts Arrow's errors to Error.
#pragma once

#include <string>

#include <arrow/status.h>

#include "runner/util/result.h"

namespace mlrun::tables {

[[nodiscard]] inline tl::unexpected<Error> arrow_error(const std::string& what, const arrow::Status& status) {
  // The reason of the system is in the detail: "[errno 28] No space left on device".
  const std::string detail = status.detail() ? ": " + status.detail()->ToString() : "";
  return fail("cannot " + what + ": " + status.message() + detail);
}

}  // namespace mlrun::tables
