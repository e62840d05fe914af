// SPDX-License-Identifier: Apache-2.0
// The rules of --place: how many blocks or mappings each matched, and on which nodes their pages were.
#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runner/report/placed_rules.h"
#include "runner/report/text/text.h"
#include "runner/util/units.h"

namespace mlrun::summary {
namespace {

std::string pages_text(const PlacedRule& placed) {
  int64_t all = 0;
  for (const auto& [node, bytes] : placed.bytes_on) all += bytes;
  std::string text;
  for (const auto& [node, bytes] : placed.bytes_on) {
    text += fmt::format("{}{} of its pages on node {}", text.empty() ? "" : ", ", percent_text(bytes, all), node);
  }
  if (placed.resident_bytes > 0)
    text += fmt::format(", {} of what is resident", percent_text(all, placed.resident_bytes));
  return text;
}

std::string not_sampled_text(const std::string& problem) {
  return fmt::format("pages not sampled ({})", problem.empty() ? "less than a second" : problem);
}

std::string rule_text(const model::Placement& placement, const PlacedRule& placed, const TextStyle& style) {
  const std::string head = style.bold("PLACED") + "  '" + printable(placed.text) + "'  ";
  const std::string what = placed.maps ? "mapping" : "block";
  if (placed.matches == 0) return wrap(head, kLead, {style.warning("no " + what + " fits this rule")}, style);
  std::vector<std::string> items = {counted(placed.matches, what) + " of " + bytes_text(placed.bytes)};
  // How long the program keeps its own mappings is unknown.
  if (!placed.maps) items.push_back("at most " + bytes_text(placed.peak_bytes) + " at once in a process");
  if (placed.fallbacks > 0) {
    items.push_back(
        style.warning(fmt::format("{} of {} not placed: no memory, a limit reached, or (pmem) a forked process",
                                  counted(placed.fallbacks, what), bytes_text(placed.fallback_bytes))));
  }
  if (!placed.folder.empty())
    items.push_back("in files in " + printable(placed.folder));
  else
    items.push_back(placed.bytes_on.empty() ? not_sampled_text(placement.problem) : pages_text(placed));
  return wrap(head, kLead, items, style);
}

// If NUMA balancing moves pages, they are not where the rules put them.
std::string balancing_text(int64_t moved, const TextStyle& style) {
  if (moved == 0) return {};
  return wrap(style.bold("PLACED"), kLead,
              {style.warning(counted(moved, "page") + " of the whole machine moved by NUMA balancing meanwhile")},
              style);
}

}  // namespace

std::string killed_by_rule(const Summary& summary) {
  const model::Placement& placement = summary.run.placement;
  if (summary.run.exit_status != 128 + SIGKILL || placement.counted.oom_kill == 0) return {};
  for (const PlacedRule& rule : placed_rules(placement)) {
    if (!rule.strict || rule.matches == 0) continue;
    return fmt::format("killed by the kernel for want of memory; strict rule '{}'", printable(rule.text));
  }
  return {};
}

std::string placement_text(const Summary& summary, const TextStyle& style) {
  const model::Placement& placement = summary.run.placement;
  const std::vector<PlacedRule> rules = placed_rules(placement);
  std::string out;
  if (!rules.empty() && placement.images == 0) {
    return wrap(style.bold("PLACED"), kLead,
                {style.warning("no program of the run could load the rules: memory is placed as without them")}, style);
  }
  if (!rules.empty() && !placement.processes) {
    return wrap(style.bold("PLACED"), kLead,
                {style.warning("unknown: mlrun was killed, and its counts of the rules are lost")}, style);
  }
  for (const PlacedRule& rule : rules) out += rule_text(placement, rule, style);
  if (const int64_t without = placement.without_memory.value_or(0); without > 0) {
    out += wrap(style.bold("PLACED"), kLead,
                {style.warning(counted(without, "program") +
                               " could not get mlrun's heap: their blocks are placed as without rules")},
                style);
  }
  if (const int64_t more = placement.not_counted.value_or(0); more > 0) {
    out += wrap(style.bold("PLACED"), kLead,
                {style.warning(fmt::format(
                    "not counted: the blocks of {} more process{}; only a limited number of processes is counted",
                    count_text(more), more == 1 ? "" : "es"))},
                style);
  }
  if (!rules.empty()) out += balancing_text(placement.counted.numa_pages_migrated, style);
  return out;
}

}  // namespace mlrun::summary
