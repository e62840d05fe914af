// SPDX-License-Identifier: Apache-2.0
// Finds what the program did and mlrun did not, or not completely, record: the rows of the table `coverage`. A run without
// gaps has none. Each kind of gap has its own file in this folder.
#pragma once

#include <vector>

#include "runner/model/run.h"
#include "runner/model/trace_info.h"
#include "runner/trace/coverage/executed_programs.h"
#include "runner/trace/coverage/mapped_coverage.h"
#include "runner/trace/coverage/mapping_callers.h"
#include "runner/trace/coverage/ring_coverage.h"
#include "runner/trace/coverage/unseen_bytes.h"
#include "runner/trace/index/spool_index.h"

namespace mlrun::trace {

class CoverageMeter {
 public:
  // Call for every call row. Not thread-safe.
  void add(const model::CallRow& row);
  void add(const model::SumRow& sum);

  // Requires: all rows were added; info.processes and info.left_out are complete.
  std::vector<model::CoverageRow> finish(SpoolIndex& index, const model::Run& session, const model::TraceInfo& info);

 private:
  void add_cut_off(SpoolIndex& index);
  void add_failures(const model::Run& session);

  UnseenBytes bytes_;
  ExecutedPrograms programs_;
  MappedCoverage mapped_;
  MappingCallers callers_;
  RingCoverage rings_;
  std::vector<model::CoverageRow> rows_;
};

// Adds rows as remarks: no bytes or memory are missing in the tables, only names, attributes or samples.
void add_remarks(model::TraceInfo& info, std::vector<model::CoverageRow> rows);

}  // namespace mlrun::trace
