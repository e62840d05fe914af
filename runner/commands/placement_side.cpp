// SPDX-License-Identifier: Apache-2.0
#include "runner/commands/placement_side.h"

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

#include "runner/placement/resolve.h"
#include "runner/util/text.h"

namespace mlrun::commands {

namespace {

bool is_asked(const RunOptions& options) { return !options.place.empty() || !options.mem_kind.empty(); }

// What traced processes write may be anything.
struct Area {
  const char* bytes;
  uint32_t rules, slots, slot_bytes, slots_offset;
};

nlohmann::json counts_of(const mlrun_place_count& count) {
  return {{"matches", count.matches},       {"bytes", count.bytes},
          {"fallbacks", count.fallbacks},   {"fallback_bytes", count.fallback_bytes},
          {"live_bytes", count.live_bytes}, {"peak_bytes", count.peak_bytes}};
}

nlohmann::json process_json(const Area& area, uint32_t number) {
  const char* const at = area.bytes + area.slots_offset + size_t{number} * area.slot_bytes;
  mlrun_place_slot slot;
  std::memcpy(&slot, at, sizeof slot);
  if (slot.taken == 0) return nullptr;
  nlohmann::json counts = nlohmann::json::array();
  for (uint32_t i = 0; i < area.rules; i++) {
    mlrun_place_count count;
    std::memcpy(&count, at + sizeof slot + i * sizeof count, sizeof count);
    counts.push_back(counts_of(count));
  }
  return {{"pid", slot.pid}, {"rules", std::move(counts)}};
}

}  // namespace

Result<Rules> settle_placement(const RunOptions& options, const launch::Installation& installation) {
  Rules result;
  if (!is_asked(options)) return result;
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
  return is_asked(options) ? installation.placement_library : std::string();
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
  session["placement"] = {{"rules", std::move(list)}};
}

void describe_placed(nlohmann::json& session, const mlrun_placement& shared) {
  if (!session.contains("placement")) return;
  mlrun_placement head;
  std::memcpy(&head, &shared, sizeof head);
  nlohmann::json& placement = session["placement"];
  Area area{reinterpret_cast<const char*>(&shared), static_cast<uint32_t>(placement["rules"].size()), head.slots_count,
            head.slot_bytes, head.slots_offset};
  const bool sane = head.rules_count == area.rules &&
                    area.slot_bytes == sizeof(mlrun_place_slot) + area.rules * sizeof(mlrun_place_count) &&
                    area.slots_offset + uint64_t{area.slots} * area.slot_bytes <= MLRUN_PLACEMENT_BYTES;
  placement["images"] = head.processes;
  placement["without_memory"] = head.without_memory;
  placement["not_counted"] = head.slots_taken > head.slots_count ? head.slots_taken - head.slots_count : 0;
  nlohmann::json processes = nlohmann::json::array();
  for (uint32_t i = 0; sane && i < std::min(head.slots_taken, area.slots); i++) {
    if (nlohmann::json process = process_json(area, i); !process.is_null()) processes.push_back(std::move(process));
  }
  placement["processes"] = std::move(processes);
}

}  // namespace mlrun::commands
