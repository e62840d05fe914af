// SPDX-License-Identifier: Apache-2.0
#include "runner/report/json/json_memory.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/report/json/json_values.h"
#include "runner/report/placed_rules.h"
#include "runner/util/json_at.h"

namespace mlrun::summary {
using Json = nlohmann::ordered_json;

namespace {

Json rule_json(const PlacedRule& rule, bool is_counted) {
  const auto counted = [&](int64_t value) { return is_counted ? Json(value) : Json(); };
  Json nodes = Json::array();
  for (const auto& [node, bytes] : rule.bytes_on) nodes.push_back({{"node", node}, {"bytes", bytes}});
  return {{"rule", rule.text},
          {"matches", counted(rule.matches)},
          {"bytes", counted(rule.bytes)},
          {"fallbacks", counted(rule.fallbacks)},
          {"fallback_bytes", counted(rule.fallback_bytes)},
          {"peak_bytes", rule.maps ? Json() : counted(rule.peak_bytes)},
          {"nodes", std::move(nodes)},
          {"resident_bytes", rule.bytes_on.empty() ? Json() : Json(rule.resident_bytes)}};
}

Json placement_json(const model::Placement& placement) {
  const std::vector<PlacedRule> rules = placed_rules(placement);
  if (rules.empty()) return {};
  const bool is_counted = placement.processes.has_value();
  return {{"rules", array(rules, [&](const PlacedRule& rule) { return rule_json(rule, is_counted); })},
          {"without_memory", known(placement.without_memory)},
          {"not_counted", known(placement.not_counted)}};
}

Json memory_access_json(const nlohmann::json& run) {
  return array(util::list_at(run, "/access/rungs"), [&](const nlohmann::json& rung) {
    const std::string name = util::text_at(rung, "/rung");
    Json out = {{"rung", name}};
    for (const char* const key : {"blind_to", "cost", "problem", "on_ns", "all_ns", "worst_stall_ns", "worst_read_ns"})
      out[key] = util::json_at(rung, std::string("/") + key);
    for (const char* const key : {"byte_s", "seen_byte_s", "touched_byte_s", "sites", "largest"}) out[key] = Json();
    for (const nlohmann::json& found : util::list_at(run, "/access/by_rung")) {
      if (util::text_at(found, "/rung") != name) continue;
      for (const char* const key : {"byte_s", "seen_byte_s", "touched_byte_s", "sites", "largest"})
        out[key] = util::json_at(found, std::string("/") + key);
    }
    return out;
  });
}

}  // namespace

void add_memory(const model::Run& run, Json& out) {
  out["placement"] = placement_json(run.placement);
  out["memory_access"] = memory_access_json(*run.document);
}

}  // namespace mlrun::summary
