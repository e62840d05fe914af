// SPDX-License-Identifier: Apache-2.0
#include "runner/trace/samples/placement_rows.h"

#include <string>

#include <nlohmann/json.hpp>

namespace mlrun::trace {

using nlohmann::json;

namespace {

int64_t placement_number(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

json list_at(const json& run, const char* pointer) {
  const json found = run.value(json::json_pointer(pointer), json::array());
  return found.is_array() ? found : json::array();
}

PlacementRow row_of(const json& counts, int32_t rule, const std::string& text, int64_t pid) {
  return {rule,
          text,
          pid,
          placement_number(counts, "matches"),
          placement_number(counts, "bytes"),
          placement_number(counts, "fallbacks"),
          placement_number(counts, "fallback_bytes"),
          placement_number(counts, "live_bytes"),
          placement_number(counts, "peak_bytes")};
}

}  // namespace

std::vector<PlacementRow> placement_rows(const json& run) {
  std::vector<PlacementRow> rows;
  if (!run.contains(json::json_pointer("/placement/processes"))) return rows;  // what was counted is lost
  const json rules = list_at(run, "/placement/rules"), processes = list_at(run, "/placement/processes");
  for (size_t i = 0; i < rules.size(); i++) {
    const std::string text = rules[i].is_object() ? rules[i].value("text", "") : "";
    bool matched = false;
    for (const json& process : processes) {
      const json counts = process.is_object() ? process.value("rules", json::array()) : json::array();
      if (i >= counts.size() || placement_number(counts[i], "matches") == 0) continue;
      rows.push_back(row_of(counts[i], static_cast<int32_t>(i), text, placement_number(process, "pid")));
      matched = true;
    }
    if (!matched) rows.push_back(row_of(json::object(), static_cast<int32_t>(i), text, 0));
  }
  return rows;
}

std::vector<PageNodeRow> page_node_rows(const json& run) {
  std::vector<PageNodeRow> rows;
  for (const json& process : list_at(run, "/placement/processes")) {
    const json pages = process.is_object() ? process.value("pages", json::array()) : json::array();
    for (const json& page : pages) {
      rows.push_back({static_cast<int32_t>(placement_number(page, "rule")), placement_number(process, "pid"),
                      static_cast<int32_t>(placement_number(page, "node")), placement_number(page, "looks"),
                      placement_number(page, "sampled"), placement_number(page, "bytes"),
                      placement_number(page, "resident_bytes")});
    }
  }
  return rows;
}

}  // namespace mlrun::trace
