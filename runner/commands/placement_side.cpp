// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/placement_side.h"

#include <signal.h>

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

#include "runner/placement/resolve.h"
#include "runner/util/text.h"

namespace mlrun::commands {

namespace {

constexpr uint64_t kFollowNs = 500'000'000;

// The processes write there, so nothing there is trusted.
mlrun_placement head_of(const mlrun_placement& area, uint32_t rules) {
  mlrun_placement head;
  std::memcpy(&head, &area, sizeof head);
  const bool sane = head.rules_count == rules &&
                    head.slot_bytes == sizeof(mlrun_place_slot) + rules * sizeof(mlrun_place_count) &&
                    head.slots_offset + uint64_t{head.slots_count} * head.slot_bytes <= MLRUN_PLACEMENT_BYTES;
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

nlohmann::json counts_at(const char* slot, uint32_t rules) {
  nlohmann::json counts = nlohmann::json::array();
  for (uint32_t i = 0; i < rules; i++) {
    mlrun_place_count count;
    std::memcpy(&count, slot + sizeof(mlrun_place_slot) + i * sizeof count, sizeof count);
    counts.push_back(counts_of(count));
  }
  return counts;
}

nlohmann::json pages_of(const placement::FoundBySlotAndRule& found, uint32_t slot) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [where, pages] : found) {
    if (where.first != slot) continue;
    for (const auto& [node, sampled] : pages.sampled) {
      const double mean = pages.bytes.at(node) / static_cast<double>(pages.looks);
      list.push_back({{"rule", where.second},
                      {"node", node},
                      {"looks", pages.looks},
                      {"sampled", sampled},
                      {"bytes", static_cast<uint64_t>(mean)}});
    }
  }
  return list;
}

}  // namespace

Result<Rules> settle_placement(const RunOptions& options, const launch::Installation& installation) {
  Rules result;
  if (!options.places()) return result;
  auto rules = placement::find_rules(options.place, options.mem_kind);
  if (!rules) return tl::make_unexpected(rules.error());
  auto bytes = placement::encoded_rules(*rules);
  if (!bytes) return tl::make_unexpected(bytes.error());
  if (const Status usable = launch::check_preload_library(installation.placement_library); !usable) {
    return tl::make_unexpected(usable.error());
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
                    {"min_bytes", rule.min_bytes},
                    {"max_bytes", rule.max_bytes},
                    {"strict", rule.strict}});
  }
  session["placement"]["rules"] = std::move(list);
}

PlacedBlocks::PlacedBlocks(const Rules& rules, const mlrun_placement& area)
    : area_(area), rules_(static_cast<uint32_t>(rules.rules.size())) {
  if (rules_ != 0) sampler_ = std::make_unique<placement::PageSampler>(rules_);
}

std::vector<mlrun_place_slot> PlacedBlocks::slots() const {
  const mlrun_placement head = head_of(area_, rules_);
  std::vector<mlrun_place_slot> result(std::min(head.slots_taken, head.slots_count));
  for (uint32_t i = 0; i < result.size(); i++) std::memcpy(&result[i], slot_at(area_, head, i), sizeof result[i]);
  return result;
}

void PlacedBlocks::follow(uint64_t now_ns) {
  if (!sampler_ || now_ns < next_ns_) return;
  next_ns_ = now_ns + kFollowNs;
  std::vector<placement::HeapPlace> places;
  const std::vector<mlrun_place_slot> all = slots();
  for (uint32_t i = 0; i < all.size(); i++) {
    const auto pid = static_cast<int>(all[i].pid);
    if (all[i].taken != 0 && pid > 0 && ::kill(pid, 0) == 0)
      places.push_back({i, pid, all[i].window, all[i].window_bytes});
  }
  sampler_->set_places(std::move(places));
}

void PlacedBlocks::describe(nlohmann::json& session) {
  if (!sampler_) return;
  std::string problem;
  const placement::FoundBySlotAndRule found = sampler_->finish(problem);
  const mlrun_placement head = head_of(area_, rules_);
  nlohmann::json& placement = session["placement"];
  nlohmann::json processes = nlohmann::json::array();
  const std::vector<mlrun_place_slot> all = slots();
  for (uint32_t i = 0; i < all.size(); i++) {
    if (all[i].taken == 0) continue;
    processes.push_back(
        {{"pid", all[i].pid}, {"rules", counts_at(slot_at(area_, head, i), rules_)}, {"pages", pages_of(found, i)}});
  }
  placement["images"] = head.processes;
  placement["without_memory"] = head.without_memory;
  placement["not_counted"] = head.slots_taken > head.slots_count ? head.slots_taken - head.slots_count : 0;
  placement["processes"] = std::move(processes);
  placement["problem"] = problem;
}

}  // namespace mlrun::commands
