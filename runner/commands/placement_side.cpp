// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/placement_side.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/events/placed_mappings.h"
#include "runner/placement/resolve.h"
#include "runner/util/file_io.h"
#include "runner/util/json_at.h"
#include "runner/util/log.h"
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

nlohmann::json pages_of(const placement::FoundBySlotAndRule& found, uint32_t slot) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [where, pages] : found) {
    if (where.first != slot) continue;
    for (const auto& [node, sampled] : pages.sampled) {
      const double mean = pages.bytes.at(node) / static_cast<double>(pages.samples);
      list.push_back({{"rule", where.second},
                      {"node", node},
                      {"looks", pages.samples},
                      {"sampled", sampled},
                      {"resident_bytes", pages.resident_bytes / pages.samples},
                      {"bytes", static_cast<uint64_t>(mean)}});
    }
  }
  return list;
}

// What each process did by each rule, and where its pages were found.
void describe_processes(nlohmann::json& placement, const mlrun_placement& area, uint32_t rules,
                        const placement::FoundBySlotAndRule& found) {
  const mlrun_placement head = head_of(area, rules);
  nlohmann::json processes = nlohmann::json::array();
  const std::vector<mlrun_place_slot> all = slots_of(area, head);
  for (uint32_t i = 0; i < all.size(); i++) {
    if (all[i].taken == 0) continue;
    processes.push_back({{"pid", all[i].pid},
                         {"window", all[i].window},
                         {"window_bytes", all[i].window_bytes},
                         {"rules", counts_at(area, head, i)},
                         {"pages", pages_of(found, i)}});
  }
  placement["images"] = head.processes;
  placement["without_memory"] = head.without_memory;
  placement["not_counted"] = head.slots_taken > head.slots_count ? head.slots_taken - head.slots_count : 0;
  placement["processes"] = std::move(processes);
}

// Whether the process with this number here is in the given pid namespace. In another one the number may be another process's.
bool is_in_namespace(int pid, uint64_t inode) {
  struct stat status {};
  return ::stat(fmt::format("/proc/{}/ns/pid", pid).c_str(), &status) == 0 && status.st_ino == inode;
}

// What the kernel counts of moves between nodes, of NUMA balancing and of its OOM killer, on the whole machine.
std::map<std::string, int64_t> machine_counters() {
  std::map<std::string, int64_t> counters;
  const std::string all = util::read_text("/proc/vmstat");
  for (const std::string_view line : util::split(all, "\n")) {
    const size_t blank = line.find(' ');
    const std::string name(line.substr(0, blank));
    if (blank != std::string_view::npos &&
        (name.starts_with("numa_") || name.starts_with("pgmigrate_") || name == "oom_kill"))
      counters[name] = std::strtoll(line.data() + blank, nullptr, 10);
  }
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

Result<Rules> settle_placement(const RunOptions& options, const launch::Installation& installation) {
  Rules result;
  if (!options.places()) return result;
  auto rules = placement::find_rules({options.place, options.mem_kind, options.pmem});
  if (!rules) return tl::make_unexpected(rules.error());
  auto bytes = placement::encoded_rules(*rules);
  if (!bytes) return tl::make_unexpected(bytes.error());
  if (const Status usable = launch::check_preload_library(installation.placement_library); !usable) {
    return tl::make_unexpected(usable.error());
  }
  for (const placement::Rule& rule : *rules) {
    if (!rule.remark.empty()) util::say(rule.remark);
  }
  result.rules = *std::move(rules);
  result.bytes = *std::move(bytes);
  return result;
}

std::string placement_library(const RunOptions& options, const launch::Installation& installation) {
  return options.places() ? installation.placement_library : std::string();
}

void describe_rules(nlohmann::json& session, const Rules& rules) {
  if (rules.rules.empty()) return;
  nlohmann::json list = nlohmann::json::array();
  for (const placement::Rule& rule : rules.rules) {
    list.push_back({{"text", util::escaped_utf8(rule.text)},
                    {"nodes", rule.nodes},
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
  if (rules == 0 || session["placement"].contains("processes")) return;
  describe_processes(session["placement"], area, rules, {});
  session["placement"]["problem"] = "mlrun was killed";
}

PlacedBlocks::PlacedBlocks(const Rules& rules, const mlrun_placement& area)
    : area_(area), rules_(static_cast<uint32_t>(rules.rules.size())) {
  if (rules_ != 0) sampler_ = std::make_unique<placement::PageSampler>(rules_);
  counters_before_ = machine_counters();
}

std::vector<placement::PlacedMapping> PlacedBlocks::mappings_of(uint32_t slot) const {
  std::vector<placement::PlacedMapping> result;
  const auto* const all = reinterpret_cast<const mlrun_place_mappings*>(reinterpret_cast<const char*>(&area_) +
                                                                        MLRUN_PLACE_MAPPINGS_OFFSET);
  const uint64_t made = all->made;
  for (uint64_t i = 0; i < std::min<uint64_t>(made, MLRUN_PLACE_MAPPINGS); i++) {
    mlrun_place_mapping mapping;
    std::memcpy(&mapping, &all->last[(made - 1 - i) % MLRUN_PLACE_MAPPINGS], sizeof mapping);
    if (mapping.number != 0 && mapping.slot == slot && mapping.rule < rules_)
      result.push_back({mapping.rule, mapping.at, mapping.at + mapping.bytes});
  }
  return result;
}

void PlacedBlocks::follow(uint64_t now_ns) {
  if (!sampler_ || now_ns < next_ns_) return;
  next_ns_ = now_ns + kFollowNs;
  std::vector<placement::HeapPlace> places;
  const std::vector<mlrun_place_slot> all = slots_of(area_, head_of(area_, rules_));
  for (uint32_t i = 0; i < all.size(); i++) {
    const auto pid = static_cast<int>(all[i].pid);
    if (all[i].taken != 0 && pid > 0 && is_in_namespace(pid, all[i].pid_namespace))
      places.push_back({i, pid, all[i].window, all[i].window_bytes, mappings_of(i)});
  }
  sampler_->set_places(std::move(places));
}

void PlacedBlocks::describe(nlohmann::json& session) {
  if (session.contains("placement")) {
    session["placement"]["numa_balancing"] = util::read_text("/proc/sys/kernel/numa_balancing", 16).starts_with('1');
    session["placement"]["counted"] = counted_since(counters_before_);
  }
  if (!sampler_) return;
  std::string problem;
  const placement::FoundBySlotAndRule found = sampler_->finish(problem);
  describe_processes(session["placement"], area_, rules_, found);
  session["placement"]["problem"] = problem;
}

}  // namespace mlrun::commands
