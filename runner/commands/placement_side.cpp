// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/placement_side.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/placed_mappings.h"
#include "runner/placement/resolve.h"
#include "runner/samplers/proc/cgroup.h"
#include "runner/samplers/proc/proc_file.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/log.h"
#include "runner/util/number.h"
#include "runner/util/proc_files.h"
#include "runner/util/text.h"

namespace mlrun::commands {

namespace {

constexpr uint64_t kFollowNs = 500'000'000;

// A copy of the area's head, with its sizes checked: the traced processes can write to the area, so it is not trusted.
mlrun_placement head_of(const mlrun_placement& area, uint32_t rules) {
  mlrun_placement head;
  std::memcpy(&head, &area, sizeof head);
  const bool sane = head.rules_count == rules &&
                    head.slot_bytes == sizeof(mlrun_place_slot) + rules * sizeof(mlrun_place_count) &&
                    head.slots_offset + uint64_t{head.slots_count} * head.slot_bytes <= MLRUN_PLACE_CACHES_OFFSET;
  if (!sane) head.slots_count = 0;
  return head;
}

const char* slot_at(const mlrun_placement& area, const mlrun_placement& head, uint32_t number) {
  return reinterpret_cast<const char*>(&area) + head.slots_offset + size_t{number} * head.slot_bytes;
}

nlohmann::json counts_of(const mlrun_place_count& count) {
  return {{"matches", count.matches},       {"bytes", count.bytes},
          {"fallbacks", count.fallbacks},   {"fallback_bytes", count.fallback_bytes},
          {"live_bytes", count.live_bytes}, {"peak_bytes", count.peak_bytes}};
}

// Adds what threads of the process have counted for the rule in their caches.
void add_caches(const mlrun_placement& area, uint32_t taken, uint32_t slot, uint32_t rule, mlrun_place_count& count) {
  const char* const first = reinterpret_cast<const char*>(&area) + MLRUN_PLACE_CACHES_OFFSET;
  for (uint32_t i = 0; i < std::min<uint32_t>(taken, MLRUN_PLACE_CACHES); i++) {
    mlrun_place_cache cache;
    std::memcpy(&cache, first + i * sizeof cache, sizeof cache);
    if (cache.slot != slot + 1 || cache.rule != rule) continue;
    count.matches += cache.matches;
    count.bytes += cache.bytes;
    count.live_bytes -= std::min(count.live_bytes, cache.cached_bytes);
  }
}

nlohmann::json counts_at(const mlrun_placement& area, const mlrun_placement& head, uint32_t slot) {
  const char* const at = slot_at(area, head, slot) + sizeof(mlrun_place_slot);
  nlohmann::json counts = nlohmann::json::array();
  for (uint32_t i = 0; i < head.rules_count; i++) {
    mlrun_place_count count;
    std::memcpy(&count, at + i * sizeof count, sizeof count);
    add_caches(area, head.caches_taken, slot, i, count);
    counts.push_back(counts_of(count));
  }
  return counts;
}

std::vector<mlrun_place_slot> slots_of(const mlrun_placement& area, const mlrun_placement& head) {
  std::vector<mlrun_place_slot> result(std::min(head.slots_taken, head.slots_count));
  for (uint32_t i = 0; i < result.size(); i++) std::memcpy(&result[i], slot_at(area, head, i), sizeof result[i]);
  return result;
}

// Adds a row for each node to `list`; `about`: whose pages they are.
void add_pages(const placement::PagesFound& pages, const nlohmann::json& about, nlohmann::json& list) {
  for (const auto& [node, sampled] : pages.sampled) {
    nlohmann::json row = about;
    row["node"] = node;
    row["looks"] = pages.samples;
    row["sampled"] = sampled;
    const auto bytes = pages.bytes.find(node);
    const double sum = bytes == pages.bytes.end() ? 0 : bytes->second;  // 0: only while memory was filled or freed
    row["resident_bytes"] = pages.resident_bytes / pages.full_samples;
    row["bytes"] = static_cast<uint64_t>(sum / static_cast<double>(pages.full_samples));
    list.push_back(std::move(row));
  }
}

// Empty: the process ended before its first sample.
std::string why_none(const placement::PagesFound& pages) {
  if (pages.error != 0) return fmt::format("the kernel refuses: {}", std::strerror(pages.error));
  return pages.samples != 0 ? "none of them was in memory" : "";
}

nlohmann::json process_json(const mlrun_placement& area, const mlrun_placement& head, uint32_t slot,
                            const mlrun_place_slot& about) {
  return {{"pid", about.pid},
          {"window", about.window},
          {"window_bytes", about.window_bytes},
          {"rules", counts_at(area, head, slot)},
          {"pages", nlohmann::json::array()}};
}

void describe_counts(nlohmann::json& placement, const mlrun_placement& head) {
  placement["images"] = head.processes;
  placement["without_memory"] = head.without_memory;
  placement["not_counted"] = head.slots_taken > head.slots_count ? head.slots_taken - head.slots_count : 0;
}

// kernel.numa_balancing, bits: 1 balances, 2 moves pages between fast and slow memory. -1: this kernel has none.
int balancing() {
  const std::string text = util::read_text("/proc/sys/kernel/numa_balancing", 16);
  return text.empty() ? -1 : util::leading_number<int>(text);
}

// Adds what the kernel counts of its OOM killer in mlrun's cgroup, if that is of version 2.
void add_cgroup_counters(std::map<std::string, int64_t>& counters) {
  const proc::Cgroup cgroup =
      proc::find_cgroup(util::read_text("/proc/self/cgroup"), util::read_text("/proc/self/mountinfo"));
  const auto count = [](const std::string& path, const char* name) -> std::optional<int64_t> {
    uint64_t value = 0;
    const bool is_there = proc::number_after(util::read_text(path), name, value);
    return is_there ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
  };
  if (cgroup.unified.empty()) return;
  if (const auto killed = count(cgroup.unified.front() + "/memory.events", "oom_kill "))
    counters["cgroup_oom_kill"] = *killed;
  for (const std::string& folder : cgroup.unified) {  // a limit may be that of a parent
    if (const auto reached = count(folder + "/memory.events.local", "oom ")) counters["cgroup_oom"] += *reached;
  }
}

// What the kernel counts of moves between nodes, of NUMA balancing and of its OOM killer, on the whole machine.
std::map<std::string, int64_t> machine_counters() {
  std::map<std::string, int64_t> counters;
  const std::string all = util::read_text("/proc/vmstat");
  for (const std::string_view line : util::split(all, "\n")) {
    const size_t blank = line.find(' ');
    const std::string name(line.substr(0, blank));
    if (blank != std::string_view::npos &&
        (name.starts_with("numa_") || name.starts_with("pgmigrate_") || name.starts_with("pgdemote_") ||
         name.starts_with("pgpromote_") || name == "oom_kill"))
      counters[name] = std::strtoll(line.data() + blank, nullptr, 10);
  }
  add_cgroup_counters(counters);
  return counters;
}

nlohmann::json counted_since(const std::map<std::string, int64_t>& before) {
  nlohmann::json result = nlohmann::json::object();
  for (const auto& [name, value] : machine_counters()) {
    const auto found = before.find(name);
    if (found != before.end()) result[name] = value - found->second;
  }
  return result;
}

}  // namespace

Result<Rules> settle_placement(const RunOptions& options, const session::Installation& installation,
                               uint64_t file_bytes_max) {
  Rules result;
  if (!options.places()) return result;
  auto rules = placement::find_rules({options.place, options.mem_kind, options.pmem, file_bytes_max});
  if (!rules) return tl::make_unexpected(rules.error());
  auto bytes = placement::encoded_rules(*rules);
  if (!bytes) return tl::make_unexpected(bytes.error());
  if (const Status usable = session::check_preload_library(installation.placement_library); !usable) {
    return tl::make_unexpected(usable.error());
  }
  for (const placement::Rule& rule : *rules) {
    if (!rule.remark.empty()) util::say(rule.remark);
  }
  result.rules = *std::move(rules);
  result.bytes = *std::move(bytes);
  return result;
}

std::string placement_library(const RunOptions& options, const session::Installation& installation) {
  return options.places() ? installation.placement_library : std::string();
}

void describe_rules(nlohmann::json& session, const Rules& rules) {
  if (rules.rules.empty()) return;
  nlohmann::json list = nlohmann::json::array();
  for (const placement::Rule& rule : rules.rules) {
    list.push_back({{"text", util::escaped_utf8(rule.text)},
                    {"policy", placement::policy_of(rule)},
                    {"nodes", rule.nodes},
                    {"shares", rule.shares},
                    {"mmap", rule.calls == MLRUN_PLACE_MMAP},
                    {"min_bytes", rule.min_bytes},
                    {"max_bytes", rule.max_bytes},
                    {"strict", rule.strict},
                    {"memkind", rule.memkind},
                    {"folder", util::escaped_utf8(rule.folder)}});
  }
  session["placement"]["rules"] = std::move(list);
}

void describe_recovered(nlohmann::json& session, const mlrun_placement& area) {
  const auto rules = static_cast<uint32_t>(util::list_at(session, "/placement/rules").size());
  nlohmann::json& placement = session["placement"];
  if (rules == 0 || placement.contains("processes")) return;
  const mlrun_placement head = head_of(area, rules);
  const std::vector<mlrun_place_slot> all = slots_of(area, head);
  nlohmann::json processes = nlohmann::json::array();
  for (uint32_t i = 0; i < all.size(); i++) {
    if (all[i].taken != 0) processes.push_back(process_json(area, head, i, all[i]));
  }
  describe_counts(placement, head);
  placement["processes"] = std::move(processes);
  placement["problem"] = "mlrun was killed";
}

namespace {

bool places_mappings(const Rules& rules) {
  return std::any_of(rules.rules.begin(), rules.rules.end(),
                     [](const placement::Rule& rule) { return rule.calls == MLRUN_PLACE_MMAP; });
}

}  // namespace

PlacedMemory::PlacedMemory(const Rules& rules, bool has_policy, const mlrun_placement& area)
    : area_(area),
      rules_(static_cast<uint32_t>(rules.rules.size())),
      samples_processes_(has_policy && !places_mappings(rules)),
      counters_before_(machine_counters()),
      balancing_before_(balancing()) {
  if (rules_ != 0 || has_policy) sampler_ = std::make_unique<placement::PageSampler>(rules_);
}

PlacedMemory::Owner& PlacedMemory::owner_of(uint32_t slot, const mlrun_place_slot& about) {
  const auto [known, is_new] = owners_.try_emplace(slot);
  Owner& owner = known->second;
  if (is_new) {
    const bool is_ours = about.pid_namespace == util::pid_namespace_of(0);
    owner.host_pid = is_ours ? about.pid : util::find_host_pid(about.pid_namespace, about.pid);
    if (const auto stat = util::read_proc_stat(owner.host_pid)) owner.start_ticks = stat->start_ticks;
  } else if (owner.host_pid != 0) {
    const auto stat = util::read_proc_stat(owner.host_pid);
    if (!stat || stat->ended || stat->start_ticks != owner.start_ticks) owner.host_pid = 0;
  }
  return owner;
}

std::vector<placement::PlacedMapping> PlacedMemory::mappings_of(uint32_t slot) const {
  std::vector<placement::PlacedMapping> result;
  const auto* const all = reinterpret_cast<const mlrun_place_mappings*>(reinterpret_cast<const char*>(&area_) +
                                                                        MLRUN_PLACE_MAPPINGS_OFFSET);
  const uint64_t made = all->made;
  for (uint64_t i = 0; i < std::min<uint64_t>(made, MLRUN_PLACE_MAPPINGS); i++) {
    mlrun_place_mapping mapping;
    const mlrun_place_mapping& entry = all->last[(made - 1 - i) % MLRUN_PLACE_MAPPINGS];
    std::memcpy(&mapping, &entry, sizeof mapping);
    if (__atomic_load_n(&entry.number, __ATOMIC_ACQUIRE) != mapping.number) continue;  // it changes just now
    if (mapping.number != 0 && mapping.slot == slot && mapping.rule < rules_)
      result.push_back({mapping.rule, mapping.at, mapping.at + mapping.bytes});
  }
  return result;
}

void PlacedMemory::follow(uint64_t now_ns, const collect::DescendantWatch& watch) {
  if (!sampler_ || now_ns < next_ns_) return;
  next_ns_ = now_ns + kFollowNs;
  placement::SampledMemory targets;
  const std::vector<mlrun_place_slot> all = slots_of(area_, head_of(area_, rules_));
  std::set<uint32_t> seen;
  for (auto i = static_cast<uint32_t>(all.size()); i-- > 0;) {  // the newest first
    if (all[i].taken == 0 || all[i].pid == 0) continue;
    Owner& owner = owner_of(i, all[i]);
    if (owner.host_pid == 0) continue;
    if (!seen.insert(owner.host_pid).second) {
      owner.host_pid = 0;  // an exec: the newer slot is of its memory
      continue;
    }
    targets.heaps.push_back({i, owner.host_pid, all[i].window, all[i].window_bytes, mappings_of(i)});
  }
  if (samples_processes_) targets.processes = watch.alive();
  sampler_->set_targets(std::move(targets));
}

nlohmann::json PlacedMemory::processes(const mlrun_placement& head, const placement::FoundPages& found) const {
  nlohmann::json processes = nlohmann::json::array();
  const std::vector<mlrun_place_slot> all = slots_of(area_, head);
  for (uint32_t slot = 0; slot < all.size(); slot++) {
    if (all[slot].taken == 0) continue;
    nlohmann::json process = process_json(area_, head, slot, all[slot]);
    process["unsampled"] = nlohmann::json::array();
    for (uint32_t rule = 0; rule < rules_; rule++) {
      const auto pages = found.by_slot_and_rule.find({slot, rule});
      if (pages != found.by_slot_and_rule.end() && !pages->second.sampled.empty()) {
        add_pages(pages->second, {{"rule", rule}}, process["pages"]);
      } else if (pages != found.by_slot_and_rule.end() && !why_none(pages->second).empty()) {
        process["unsampled"].push_back({{"rule", rule}, {"why", why_none(pages->second)}});
      }
    }
    processes.push_back(std::move(process));
  }
  return processes;
}

void PlacedMemory::describe(nlohmann::json& session) {
  if (!session.contains("placement")) return;
  nlohmann::json& placement = session["placement"];
  placement["numa_balancing"] = {{"before", balancing_before_}, {"after", balancing()}};
  placement["counted"] = counted_since(counters_before_);
  if (!sampler_) return;
  std::string problem;
  const placement::FoundPages found = sampler_->finish(problem);
  placement["problem"] = problem;
  if (rules_ != 0) {
    const mlrun_placement head = head_of(area_, rules_);
    describe_counts(placement, head);
    placement["processes"] = processes(head, found);
  }
  if (!samples_processes_) return;
  placement["pages"] = nlohmann::json::array();
  std::string why;
  for (const auto& [where, pages] : found.by_process_and_file) {
    const auto& [pid, file] = where;
    add_pages(pages, {{"pid", pid}, {"file", util::escaped_utf8(file)}}, placement["pages"]);
    if (pages.sampled.empty() && file.empty()) why = why_none(pages);
  }
  if (placement["pages"].empty() && problem.empty() && rules_ == 0) placement["problem"] = why;
}

}  // namespace mlrun::commands
