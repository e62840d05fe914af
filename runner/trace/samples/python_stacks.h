// SPDX-License-Identifier: Apache-2.0
// Writes samples of Python stacks from the spool to the table python_stack; the stacks go into `stack` and `frame`. Stacks
// and frames beyond the limits are only counted, and their samples have no stack.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runner/idle/python_lines.h"
#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/parquet/row_table.h"
#include "runner/summary/meters/python_meter.h"
#include "runner/trace/index/spool_index.h"
#include "runner/util/result.h"

namespace mlrun::trace {

struct PythonTotals {
  int64_t rows = 0;
  uint64_t damaged_rows = 0;  // in malformed frames
  uint64_t left_out = 0;      // rows whose stack is over the limits
};

// Writes the table, which has a file even without rows, and adds the stacks to info.stacks. Requires: processes and
// threads of `info` are complete.
Result<PythonTotals> write_python_stacks(const SpoolIndex& index, model::TraceInfo& info,
                                         const std::string& tables_folder, summary::PythonMeter& meter,
                                         idle::PythonLines& lines);

// As tables::visit_empty().
Status visit_python_table(const tables::TableVisit& visit);

// Rows about processes whose stacks were not sampled and, with --python-stacks, about samples without some threads.
std::vector<model::CoverageRow> python_coverage(const model::Run& session, const SpoolIndex& index);

}  // namespace mlrun::trace
