// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/read/stat_rows.h"

#include <algorithm>

#include "runner/sweep/read/remarks.h"

namespace mlrun::sweep {
namespace {

const Cell* base_cell(const Sweep& sweep, const std::vector<Cell>& cells, const Cell& cell) {
  const uint32_t base = base_of(sweep, cell.configuration);
  if (base == cell.configuration || !sweep.configurations[base].is_dry) return nullptr;
  const auto found = std::ranges::find_if(
      cells, [&](const Cell& other) { return other.workload == cell.workload && other.configuration == base; });
  return found == cells.end() ? nullptr : &*found;
}

}  // namespace

Statistics statistics_of(const Sweep& sweep, std::vector<std::string> figures) {
  Statistics all{.figures = std::move(figures), .cells = cells_of(sweep), .rows = {}, .warnings = {}};
  if (all.figures.empty()) all.figures = figure_names(sweep);
  for (const std::string& warning : {order_warning(sweep), looks_remark(sweep)}) {
    if (!warning.empty()) all.warnings.push_back(warning);
  }
  const ComparisonOptions options{.margin = sweep.margin, .by_block = sweep.order == Order::kBlocks};
  for (const Cell& cell : all.cells) {
    StatRow row{.cell = cell, .figures = {}, .base = base_cell(sweep, all.cells, cell), .overhead = {}, .remarks = {}};
    row.remarks = remarks_on(cell);
    for (const std::string& figure : all.figures) {
      const Series series = series_of(cell.done, figure);
      if (series.empty()) continue;
      row.figures[figure] = describe(series);
      if (row.base == nullptr) continue;
      const Series base = series_of(row.base->done, figure);
      if (!base.empty()) row.overhead[figure] = compare(base, series, options);
    }
    all.rows.push_back(std::move(row));
  }
  return all;
}

}  // namespace mlrun::sweep
