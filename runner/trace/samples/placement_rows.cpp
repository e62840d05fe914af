// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/samples/placement_rows.h"

namespace mlrun::trace {

std::vector<PlacementRow> placement_rows(const model::Placement& placement) {
  std::vector<PlacementRow> rows;
  if (!placement.processes) return rows;  // the counts are lost
  for (size_t i = 0; i < placement.rules.size(); i++) {
    const auto rule = static_cast<int32_t>(i);
    const std::string& text = placement.rules[i].text;
    bool matched = false;
    for (const model::Placement::Process& process : *placement.processes) {
      if (i >= process.rules.size() || process.rules[i].matches == 0) continue;
      const model::Placement::Counts& counts = process.rules[i];
      rows.push_back({rule, text, process.pid, counts.matches, counts.bytes, counts.fallbacks, counts.fallback_bytes,
                      counts.live_bytes, counts.peak_bytes});
      matched = true;
    }
    if (!matched) rows.push_back({rule, text});
  }
  return rows;
}

std::vector<PageNodeRow> page_node_rows(const model::Placement& placement) {
  std::vector<PageNodeRow> rows;
  const auto add = [&](const model::Placement::Pages& pages, int64_t pid) {
    rows.push_back({static_cast<int32_t>(pages.rule), pid, pages.file, static_cast<int32_t>(pages.node), pages.samples,
                    pages.sampled, pages.bytes, pages.resident_bytes});
  };
  for (const model::Placement::Process& process :
       placement.processes.value_or(std::vector<model::Placement::Process>())) {
    for (const model::Placement::Pages& pages : process.pages) add(pages, process.pid);
  }
  for (const model::Placement::Pages& pages : placement.pages) add(pages, pages.pid);
  return rows;
}

}  // namespace mlrun::trace
