// SPDX-License-Identifier: Apache-2.0
// A trace except its event rows: the small tables, all in memory, and run.json. The merger fills it, the summary reads
// it (runner/model/run.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runner/model/file_table.h"
#include "runner/model/rows.h"
#include "runner/model/stack_table.h"
#include "runner/util/json_value.h"

namespace mlrun::model {

struct NameRow {
  int64_t name_id = 0;
  std::string text;
};

struct TraceInfo {
  util::JsonValue run;
  std::vector<ProcessRow> processes;
  std::vector<ImageRow> images;
  std::vector<ThreadRow> threads;
  FileTable files;
  StackTable stacks;
  std::vector<NameRow> names;
  std::vector<MarkRow> marks;
  std::vector<PhaseRow> phases;
  std::vector<GpuRow> gpus;
  std::vector<LossRow> losses;
  std::vector<CoverageRow> coverage;
  std::vector<LeftOutRow> left_out;
  std::vector<FoldedRow> folded;
  std::vector<SumRow> sums;
};

}  // namespace mlrun::model
