// SPDX-License-Identifier: Apache-2.0
// Rows of `coverage` about allocators whose calls mlrun's hooks do not see: an allocator that is part of the program, one
// with its own operator new, one that is linked into a library.
#pragma once

#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/coverage/mapping_callers.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

// Requires: info.images is complete. Reads the symbols of programs and libraries as they are at merge time.
std::vector<model::CoverageRow> allocator_coverage(SpoolIndex& index, const model::TraceInfo& info,
                                                   const MappingCallers& callers);

}  // namespace mlrun::trace
