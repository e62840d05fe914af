// SPDX-License-Identifier: Apache-2.0
// Reads what Nsight Systems exports as SQLite. Tables and columns vary by EXPORT_SCHEMA_VERSION and by what was recorded: absent ones are
// normal, and unknown tables with times become rows of import_event.
#pragma once

#include <string>

#include "runner/exchange/import/trace_maker.h"
#include "runner/util/result.h"

namespace mlrun::exchange {

Status read_nsys(const std::string& path, TraceMaker& to);

}  // namespace mlrun::exchange
