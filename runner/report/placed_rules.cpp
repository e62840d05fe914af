// SPDX-License-Identifier: Apache-2.0
#include "runner/report/placed_rules.h"

#include <algorithm>
#include <iterator>

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
  const std::vector<int64_t>& left_out = process.mappings_left_out;
  if (std::find(left_out.begin(), left_out.end(), static_cast<int64_t>(rule)) != left_out.end())
    placed.lacks_mappings = true;
  for (const model::Placement::Unsampled& unsampled : process.unsampled) {
    if (unsampled.rule == static_cast<int64_t>(rule)) placed.why_unsampled = unsampled.why;
  }
}

Memory memory_of(const model::Placement::Pages& pages) {
  if (pages.file.empty()) return Memory::kPrivate;
  return pages.file == model::Placement::kSharedMemory ? Memory::kShared : Memory::kFiles;
}

}  // namespace

std::vector<model::Placement::Site> sites_elsewhere(const model::Placement& placement, int64_t rule) {
  std::vector<model::Placement::Site> sites;
  std::ranges::copy_if(placement.sites, std::back_inserter(sites), [&](const auto& site) { return site.rule == rule; });
  return sites;
}

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
    placed.huge = rule.huge;
    placed.sites = sites_elsewhere(placement, static_cast<int64_t>(result.size()));
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
    if (memory_of(pages) == memory) bytes[pages.node] += pages.bytes;
  }
  return bytes;
}

}  // namespace mlrun::report
