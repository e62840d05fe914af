// SPDX-License-Identifier: Apache-2.0
// Rows of `coverage` about memory that an allocator hands out past every hook: one that is part of the program, operator
// new of one that has its own, one that is linked into a library.
#pragma once

#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/coverage/mapping_callers.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

// Requires: info.images is complete. Looks into the files of programs and libraries as they are now.
std::vector<model::CoverageRow> allocator_coverage(SpoolIndex& index, const model::TraceInfo& info,
                                                   const MappingCallers& callers);

}  // namespace mlrun::trace
