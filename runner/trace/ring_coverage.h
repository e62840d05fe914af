// SPDX-License-Identifier: Apache-2.0
// io_uring, Linux's aio and cuFile: what moves bytes in no call of the program's.
#pragma once

#include <string>
#include <vector>

#include "runner/model/trace_info.h"
#include "runner/trace/spool_index.h"

namespace mlrun::trace {

// `hint`: what would record it. Requires: info.files is complete.
void add_rings(const SpoolIndex& index, const model::TraceInfo& info, const std::string& hint,
               std::vector<model::CoverageRow>& rows);
void add_cufile(const model::TraceInfo& info, std::vector<model::CoverageRow>& rows);

}  // namespace mlrun::trace
