// SPDX-License-Identifier: Apache-2.0
// The sizes of a trace's tables, from the files' footers only.
#pragma once

#include <cstdint>
#include <string>

#include "runner/util/result.h"

namespace mlrun::view {

struct TableShape {
  int64_t rows = 0;
  int64_t size_bytes = 0;
  int64_t parts = 0;
};

Result<TableShape> table_shape(const std::string& trace_folder, const std::string& table);

}  // namespace mlrun::view
