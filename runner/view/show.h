// SPDX-License-Identifier: Apache-2.0
// Rows of one table of a trace. Reads one row group after another; keeps no more than the names that ids stand for.
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
  std::optional<int64_t> limit = {};      // none: 100 rows of text, all of the other formats; 0: all
  std::vector<std::string> columns = {};  // empty: the usual ones
  bool keeps_formulas = false;            // of CSV
  bool absolute = false;                  // moments as CLOCK_MONOTONIC, not from the run's start
};

Status show(const ShowOptions& options, const TextOptions& text, const Sink& sink);

}  // namespace mlrun::view
