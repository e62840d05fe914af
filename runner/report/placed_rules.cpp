// SPDX-License-Identifier: Apache-2.0
#include "runner/report/placed_rules.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runner/util/json_at.h"

namespace mlrun::summary {

using nlohmann::json;

namespace {

void add_process(const json& process, size_t rule, PlacedRule& placed) {
  const std::string counts = fmt::format("/rules/{}/", rule);
  placed.matches += util::integer_at(process, counts + "matches");
  placed.bytes += util::integer_at(process, counts + "bytes");
  placed.fallbacks += util::integer_at(process, counts + "fallbacks");
  placed.fallback_bytes += util::integer_at(process, counts + "fallback_bytes");
  placed.peak_bytes = std::max(placed.peak_bytes, util::integer_at(process, counts + "peak_bytes"));
  int64_t resident = 0;
  for (const json& page : util::list_at(process, "/pages")) {
    if (util::integer_at(page, "/rule") != static_cast<int64_t>(rule)) continue;
    placed.bytes_on[util::integer_at(page, "/node")] += util::integer_at(page, "/bytes");
    resident = util::integer_at(page, "/resident_bytes");
  }
  placed.resident_bytes += resident;
}

}  // namespace

std::vector<PlacedRule> placed_rules(const json& run) {
  std::vector<PlacedRule> result;
  for (const json& rule : util::list_at(run, "/placement/rules")) {
    PlacedRule placed;
    placed.text = util::text_at(rule, "/text");
    placed.folder = util::text_at(rule, "/folder");
    placed.maps = util::flag_at(rule, "/mmap");
    placed.strict = util::flag_at(rule, "/strict");
    for (const json& process : util::list_at(run, "/placement/processes")) add_process(process, result.size(), placed);
    result.push_back(std::move(placed));
  }
  return result;
}

bool are_rules_counted(const json& run) { return !util::json_at(run, "/placement/processes").is_null(); }

}  // namespace mlrun::summary
