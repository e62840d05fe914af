// SPDX-License-Identifier: Apache-2.0
// The rules of --place: how many blocks or mappings each matched, and on which nodes their pages were; where the memory policy of the
// command put the rest.
#include <signal.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/events/placed_mappings.h"
#include "runner/report/placed_rules.h"
#include "runner/report/text/text.h"
#include "runner/util/id_list.h"
#include "runner/util/units.h"

namespace mlrun::report {
namespace {

// The share of memory on a node, and how much it is where only other nodes were asked for. asked: empty: any node.
std::string on_node_text(const char* memory, int64_t node, int64_t bytes, int64_t all,
                         const std::vector<int64_t>& asked, const TextStyle& style) {
  std::string text = fmt::format("{} of its {} on node {}", util::percent_text(bytes, all), memory, node);
  if (asked.empty() || std::find(asked.begin(), asked.end(), node) != asked.end()) return text;
  std::string elsewhere = fmt::format("{} ({}, not asked for)", text, util::bytes_text(bytes));
  return bytes * 100 < all ? elsewhere : style.warning(elsewhere);
}

// The callers whose blocks are elsewhere.
void add_sites(const std::vector<model::Placement::Site>& sites, std::vector<std::string>& items) {
  for (const model::Placement::Site& site : sites) {
    const std::string of = site.site.empty() ? "no listed block" : printable(site.site);
    items.push_back(fmt::format("not asked for: {} of {}", util::bytes_text(site.bytes), of));
  }
}

std::string asked_text(const PlacedRule& placed) {
  const std::string nodes =
      "asked for: node " + util::id_list_text(util::IdList(placed.asked.begin(), placed.asked.end()));
  if (placed.policy == "preferred") return nodes + " first";
  if (placed.policy == "bind") return nodes + " alone";
  if (placed.policy == "interleave") return nodes + " in turn";
  return placed.shares.empty() ? nodes : fmt::format("{} by {}", nodes, fmt::join(placed.shares, ":"));
}

void add_pages(const PlacedRule& placed, const TextStyle& style, std::vector<std::string>& items) {
  int64_t all = 0;
  for (const auto& [node, bytes] : placed.bytes_on) all += bytes;
  for (const auto& [node, bytes] : placed.bytes_on)
    items.push_back(on_node_text("pages", node, bytes, all, placed.asked, style));
  add_sites(placed.sites, items);
  if (placed.lacks_mappings)
    items.push_back(
        fmt::format("sampled only the newest {} mappings of all processes together", int{MLRUN_PLACE_MAPPINGS}));
  else if (placed.resident_bytes > 0)
    items.push_back(fmt::format("{} of what is resident", util::percent_text(all, placed.resident_bytes)));
}

bool are_some_not_counted(const model::Placement& placement) { return placement.not_counted.value_or(0) > 0; }

// The processes that a statement about all blocks or mappings is limited to; empty: all.
const char* of_whom(const model::Placement& placement) {
  if (are_some_not_counted(placement)) return " of the counted processes";
  return placement.without_rules.value_or(0) > 0 ? " of the processes with rules" : "";
}

// why: empty: no process could be sampled.
std::string not_sampled_text(const std::string& why, const model::Placement& placement) {
  if (!why.empty()) return fmt::format("pages not sampled ({})", why);
  if (!placement.problem.empty()) return fmt::format("pages not sampled ({})", placement.problem);
  return fmt::format("pages not sampled (no {}process lived for a second)",
                     are_some_not_counted(placement) ? "counted " : "");
}

// asked: as of on_node_text().
void add_nodes_of(const model::Placement& placement, Memory memory, const char* name, const std::vector<int64_t>& asked,
                  const TextStyle& style, std::vector<std::string>& items) {
  const std::map<int64_t, int64_t> bytes_on = bytes_by_policy(placement, memory);
  int64_t all = 0;
  for (const auto& [node, bytes] : bytes_on) all += bytes;
  for (const auto& [node, bytes] : bytes_on) {
    if (bytes > 0) items.push_back(on_node_text(name, node, bytes, all, asked, style));
  }
}

// Where the memory is that no rule places.
std::string by_policy_text(const model::Placement& placement, const TextStyle& style) {
  const std::string head = fmt::format("{}  --{} {}  ", style.bold("PLACED"), placement.policy, placement.mem_node);
  const bool places_mappings =
      std::any_of(placement.rules.begin(), placement.rules.end(), [](const auto& rule) { return rule.mmap; });
  const util::IdList listed = util::parse_id_list(placement.mem_node).value_or(util::IdList());
  const std::vector<int64_t> asked(listed.begin(), listed.end());
  const char* const name = placement.rules.empty() ? "private memory" : "other private memory";
  std::vector<std::string> items;
  add_nodes_of(placement, Memory::kPrivate, name, asked, style, items);
  if (items.empty()) {
    const std::string why = places_mappings ? "a rule is about mappings" : placement.policy_problem;
    return wrap(head, kLead, {not_sampled_text(why, placement)}, style);
  }
  add_sites(sites_elsewhere(placement, -1), items);
  add_nodes_of(placement, Memory::kShared, "shared memory", asked, style, items);
  // Other programs may have read a file before: no node is a fault.
  add_nodes_of(placement, Memory::kFiles, "mapped files", {}, style, items);
  return wrap(head, kLead, items, style);
}

std::string rule_text(const model::Placement& placement, const PlacedRule& placed, const TextStyle& style) {
  const std::string head = style.bold("PLACED") + "  '" + printable(placed.text) + "'  ";
  const std::string what = placed.maps ? "mapping" : "block";
  if (placed.matches == 0) {
    return wrap(head, kLead, {style.warning(fmt::format("no {}{} fits this rule", what, of_whom(placement)))}, style);
  }
  std::vector<std::string> items = {counted(placed.matches, what) + " of " + util::bytes_text(placed.bytes)};
  // How long the program keeps its own mappings is unknown.
  if (!placed.maps) items.push_back("at most " + util::bytes_text(placed.peak_bytes) + " at once in a process");
  if (placed.fallbacks > 0) {
    const char* const why = placed.maps ? "not placed: no memory, a limit reached, or explicit huge pages (MAP_HUGETLB)"
                                        : "left to a later rule or the program's allocator: no memory, a limit "
                                          "reached, or (pmem) a forked process";
    items.push_back(style.warning(
        fmt::format("{} of {} {}", counted(placed.fallbacks, what), util::bytes_text(placed.fallback_bytes), why)));
  }
  if (!placed.folder.empty()) items.push_back("in files in " + printable(placed.folder));
  if (!placed.asked.empty()) items.push_back(asked_text(placed));
  if (placed.huge)
    items.push_back(fmt::format("asked for: huge pages{}; how many it got is not measured",
                                placed.maps ? "" : " for blocks of 2 MiB and more"));
  if (!placed.bytes_on.empty())
    add_pages(placed, style, items);
  else if (placed.folder.empty())
    items.push_back(not_sampled_text(placed.why_unsampled, placement));
  return wrap(head, kLead, items, style);
}

// What may have left the command without memory; empty: unknown.
std::string no_memory_text(const model::Placement& placement) {
  if (placement.counted.cgroup_oom.value_or(0) != 0) return "the limit of its cgroup was reached";
  for (const PlacedRule& rule : placed_rules(placement)) {
    if (rule.strict && rule.matches != 0) return fmt::format("strict rule '{}'", printable(rule.text));
  }
  return placement.policy == "mem-node" ? "--mem-node " + printable(placement.mem_node) : "";
}

// kernel.numa_balancing, a sum: 1 moves pages towards the CPUs that use them, 2 between fast and slow nodes.
std::string balancing_text(const model::Placement::Balancing& balancing) {
  if (balancing.before != balancing.after)
    return fmt::format("NUMA balancing was changed meanwhile (kernel.numa_balancing: {}, then {})", balancing.before,
                       balancing.after);
  if (balancing.after <= 0) return "";
  return fmt::format("NUMA balancing is on: the kernel may move pages {}",
                     balancing.after == 2 ? "between fast and slow nodes" : "towards the CPUs that use them");
}

// If the kernel moves pages, they are not where the rules or the policy put them.
std::string moved_text(const model::Placement& placement, const TextStyle& style) {
  const model::Placement::Machine& machine = placement.counted;
  std::vector<std::string> items;
  if (std::string text = balancing_text(placement.numa_balancing); !text.empty()) items.push_back(std::move(text));
  const auto add = [&](int64_t pages, const char* how) {
    if (pages != 0)
      items.push_back(style.warning(counted(pages, "page") + " of the whole machine " + how + " meanwhile"));
  };
  // The kernel counts promoted pages as moved by NUMA balancing too.
  add(std::max<int64_t>(machine.numa_pages_migrated - machine.pgpromote_success, 0), "moved by NUMA balancing");
  add(machine.pgdemote_kswapd + machine.pgdemote_direct + machine.pgdemote_khugepaged, "moved to a slower node");
  add(machine.pgpromote_success, "moved to a faster node");
  return items.empty() ? "" : wrap(style.bold("PLACED"), kLead, items, style);
}

}  // namespace

std::string policy_text(const model::Placement& placement) {
  std::string nodes = "memory of node " + printable(placement.mem_node);
  if (placement.policy == "preferred") return nodes + " first";
  if (placement.policy == "interleave") return nodes + " in turn";
  if (placement.policy == "weighted-interleave")
    return fmt::format("{} in turn, weighted {}", nodes, printable(placement.weights));
  return nodes;
}

std::string killed_for_memory(const Summary& summary) {
  const model::Placement::Machine& machine = summary.run.placement.counted;
  const bool is_of_cgroup = machine.cgroup_oom_kill.has_value();
  if (machine.cgroup_oom_kill.value_or(machine.oom_kill) == 0) return {};
  std::string text = "killed by the kernel for want of memory";
  if (summary.run.exit_status != 128 + SIGKILL) {
    const bool was_one_killed = std::any_of(summary.processes.begin(), summary.processes.end(),
                                            [](const auto& one) { return one.end == "no exit" && one.role != "main"; });
    if (is_of_cgroup)
      text = "a process in the command's cgroup was " + text;
    else if (was_one_killed)
      text =
          "a process of the command was killed; during the run the kernel killed a process of this machine for lack of "
          "memory";
    else
      return {};
  }
  const std::string reason = no_memory_text(summary.run.placement);
  if (!reason.empty()) return text + "; " + reason;
  return is_of_cgroup ? text : "";  // the kernel may have killed another program's process
}

namespace {

std::string rules_text(const model::Placement& placement, const std::vector<PlacedRule>& rules,
                       const TextStyle& style) {
  if (rules.empty()) return {};
  if (placement.images == 0) {
    return wrap(style.bold("PLACED"), kLead,
                {style.warning("no program of the run could load the rules: memory is placed as without them")}, style);
  }
  if (!placement.processes) {
    return wrap(style.bold("PLACED"), kLead,
                {style.warning("unknown: mlrun was killed, and its counts of the rules are lost")}, style);
  }
  std::string out;
  for (const PlacedRule& rule : rules) out += rule_text(placement, rule, style);
  if (const int64_t without = placement.without_memory.value_or(0); without > 0) {
    out += wrap(style.bold("PLACED"), kLead,
                {style.warning(counted(without, "program") +
                               " could not get mlrun's heap: their blocks are placed as without rules")},
                style);
  }
  if (const int64_t without = placement.without_block_rules.value_or(0); without > 0) {
    out += wrap(style.bold("PLACED"), kLead,
                {style.warning(fmt::format("{} {} a free or realloc in front of mlrun's: no rule places {} blocks",
                                           counted(without, "program"), without == 1 ? "has" : "have",
                                           without == 1 ? "its" : "their"))},
                style);
  }
  if (const int64_t without = placement.without_rules.value_or(0); without > 0) {
    out += wrap(
        style.bold("PLACED"), kLead,
        {style.warning(fmt::format("{} process{} ran without the rules (environment cleared, program static or setuid)",
                                   util::count_text(without), without == 1 ? "" : "es"))},
        style);
  }
  if (const int64_t more = placement.not_counted.value_or(0); more > 0) {
    out += wrap(style.bold("PLACED"), kLead,
                {style.warning(fmt::format(
                    "not counted: the blocks of {} more process{}; only a limited number of processes is counted",
                    util::count_text(more), more == 1 ? "" : "es"))},
                style);
  }
  return out;
}

}  // namespace

std::string placement_text(const Summary& summary, const TextStyle& style) {
  const model::Placement& placement = summary.run.placement;
  const std::vector<PlacedRule> rules = placed_rules(placement);
  std::string out = rules_text(placement, rules, style);
  if (!placement.policy.empty()) out += by_policy_text(placement, style);
  if (!rules.empty() || !placement.policy.empty()) out += moved_text(placement, style);
  return out;
}

}  // namespace mlrun::report
