// SPDX-License-Identifier: Apache-2.0
#include "runner/report/json/json_memory.h"

#include <array>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/report/json/json_values.h"
#include "runner/report/placed_rules.h"
#include "runner/util/json_at.h"

namespace mlrun::report {
using Json = nlohmann::ordered_json;

namespace {

Json nodes_json(const std::map<int64_t, int64_t>& bytes_on) {
  Json nodes = Json::array();
  for (const auto& [node, bytes] : bytes_on) nodes.push_back({{"node", node}, {"bytes", bytes}});
  return nodes;
}

Json sites_json(const std::vector<model::Placement::Site>& sites) {
  return array(sites, [](const model::Placement::Site& site) -> Json {
    return {{"site", site.site.empty() ? Json() : Json(site.site)}, {"bytes", site.bytes}};
  });
}

// null: the command had no policy.
Json policy_json(const model::Placement& placement) {
  if (placement.policy.empty()) return {};
  return {{"option", placement.policy},
          {"mem_node", placement.mem_node},
          {"weights", placement.weights.empty() ? Json() : Json(placement.weights)},
          {"nodes", nodes_json(bytes_by_policy(placement, Memory::kPrivate))},
          {"sites", sites_json(sites_elsewhere(placement, -1))},
          {"shared_nodes", nodes_json(bytes_by_policy(placement, Memory::kShared))},
          {"file_nodes", nodes_json(bytes_by_policy(placement, Memory::kFiles))}};
}

// null: the rule names no nodes.
Json asked_json(const PlacedRule& rule) {
  if (rule.asked.empty()) return {};
  return {{"policy", rule.policy}, {"nodes", rule.asked}, {"shares", rule.shares.empty() ? Json() : Json(rule.shares)}};
}

Json rule_json(const PlacedRule& rule, bool is_counted) {
  const auto counted = [&](auto value) { return is_counted ? Json(value) : Json(); };
  return {{"rule", rule.text},
          {"asked", asked_json(rule)},
          {"matches", counted(rule.matches)},
          {"bytes", counted(rule.bytes)},
          {"fallbacks", counted(rule.fallbacks)},
          {"fallback_bytes", counted(rule.fallback_bytes)},
          {"peak_bytes", rule.maps ? Json() : counted(rule.peak_bytes)},
          {"nodes", nodes_json(rule.bytes_on)},
          {"sites", sites_json(rule.sites)},
          {"resident_bytes", rule.bytes_on.empty() || rule.lacks_mappings ? Json() : Json(rule.resident_bytes)},
          {"lacks_mappings", counted(rule.lacks_mappings)}};
}

Json placement_json(const model::Run& run) {
  const model::Placement& placement = run.placement;
  const std::vector<PlacedRule> rules = placed_rules(placement);
  if (rules.empty() && placement.policy.empty()) return {};
  const bool is_counted = placement.processes.has_value();
  return {{"policy", policy_json(placement)},
          {"rules", array(rules, [&](const PlacedRule& rule) { return rule_json(rule, is_counted); })},
          {"without_memory", known(placement.without_memory)},
          {"without_block_rules", known(placement.without_block_rules)},
          {"not_counted", known(placement.not_counted)},
          {"without_rules", known(placement.without_rules)},
          {"numa_balancing", util::json_at(*run.document, "/placement/numa_balancing")},
          {"counted", util::json_at(*run.document, "/placement/counted")}};
}

// What was found by a rung, in `by_rung` of run.json.
constexpr std::array kFoundKeys = {"rows",           "joined_rows",   "byte_s", "seen_byte_s",
                                   "touched_byte_s", "shared_byte_s", "sites",  "largest"};

Json memory_access_json(const nlohmann::json& run) {
  return array(util::list_at(run, "/access/rungs"), [&](const nlohmann::json& rung) {
    const std::string name = util::text_at(rung, "/rung");
    Json out = {{"rung", name}};
    for (const char* const key : {"blind_to", "cost", "problem", "on_ns", "all_ns", "worst_stall_ns", "worst_read_ns"})
      out[key] = util::json_at(rung, std::string("/") + key);
    for (const char* const key : kFoundKeys) out[key] = Json();
    for (const nlohmann::json& found : util::list_at(run, "/access/by_rung")) {
      if (util::text_at(found, "/rung") != name) continue;
      for (const char* const key : kFoundKeys) out[key] = util::json_at(found, std::string("/") + key);
    }
    return out;
  });
}

}  // namespace

void add_memory(const model::Run& run, Json& out) {
  out["placement"] = placement_json(run);
  out["memory_access"] = memory_access_json(*run.document);
}

}  // namespace mlrun::report
