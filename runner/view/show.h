// SPDX-License-Identifier: Apache-2.0
// Rows of one table of a trace. Reads one row group at a time; keeps only the names of ids in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/util/result.h"
#include "runner/view/row_output.h"

namespace mlrun::view {

enum class ShowFormat { kText, kCsv, kJson };

struct ShowOptions {
  std::string trace_folder = {};
  std::string table = {};  // empty: the list of tables
  ShowFormat format = ShowFormat::kText;
  std::string where = {};
  std::optional<int64_t> limit = {};      // nullopt: 100 rows of text, all rows of other formats; 0: all
  std::vector<std::string> columns = {};  // empty: the default ones
  bool keeps_formulas = false;            // of CSV: texts that a spreadsheet would execute are not changed
  bool absolute = false;                  // moments are times of CLOCK_MONOTONIC instead of times since the run's start
};

Status show(const ShowOptions& options, const TextOptions& text, const Sink& sink);

}  // namespace mlrun::view
