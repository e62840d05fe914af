// SPDX-License-Identifier: Apache-2.0
// The small tables of a trace: process, image, thread, file, name, mark, stack, frame, phase, loss, coverage. One file
// each.
#pragma once

#include <string>

#include "runner/model/trace_info.h"
#include "runner/util/result.h"

namespace mlrun::trace {

// Writes TRACE/tables/NAME/part-00000.parquet for each of them.
Status write_small_tables(const model::TraceInfo& info, const std::string& trace_folder);

}  // namespace mlrun::trace
