// SPDX-License-Identifier: Apache-2.0
#include "runner/report/placed_rules.h"

#include <algorithm>

namespace mlrun::report {

namespace {

void add_process(const model::Placement::Process& process, size_t rule, PlacedRule& placed) {
  if (rule < process.rules.size()) {
    const model::Placement::Counts& counts = process.rules[rule];
    placed.matches += counts.matches;
    placed.bytes += counts.bytes;
    placed.fallbacks += counts.fallbacks;
    placed.fallback_bytes += counts.fallback_bytes;
    placed.peak_bytes = std::max(placed.peak_bytes, counts.peak_bytes);
  }
  int64_t resident = 0;
  for (const model::Placement::Pages& pages : process.pages) {
    if (pages.rule != static_cast<int64_t>(rule)) continue;
    placed.bytes_on[pages.node] += pages.bytes;
    resident = pages.resident_bytes;
  }
  placed.resident_bytes += resident;
  for (const model::Placement::Unsampled& unsampled : process.unsampled) {
    if (unsampled.rule == static_cast<int64_t>(rule)) placed.why_unsampled = unsampled.why;
  }
}

}  // namespace

std::vector<PlacedRule> placed_rules(const model::Placement& placement) {
  std::vector<PlacedRule> result;
  for (const model::Placement::Rule& rule : placement.rules) {
    PlacedRule placed;
    placed.text = rule.text;
    placed.folder = rule.folder;
    placed.policy = rule.policy;
    placed.asked = rule.nodes;
    placed.shares = rule.shares;
    placed.maps = rule.mmap;
    placed.strict = rule.strict;
    if (placement.processes) {
      for (const auto& process : *placement.processes) add_process(process, result.size(), placed);
    }
    result.push_back(std::move(placed));
  }
  return result;
}

std::map<int64_t, int64_t> bytes_by_policy(const model::Placement& placement, Memory memory) {
  std::map<int64_t, int64_t> bytes;
  for (const model::Placement::Pages& pages : placement.pages) {
    if (pages.file.empty() == (memory == Memory::kPrivate)) bytes[pages.node] += pages.bytes;
  }
  return bytes;
}

}  // namespace mlrun::report
