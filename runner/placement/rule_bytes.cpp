// SPDX-License-Identifier: Apache-2.0
#include <linux/mempolicy.h>

#include <cstring>

#include <fmt/format.h>

#include "runner/events/placed_mappings.h"
#include "runner/placement/resolve.h"

namespace mlrun::placement {

namespace {

constexpr uint32_t kPreferredMany = 5;  // MPOL_PREFERRED_MANY, since Linux 5.15; the headers may be older
constexpr size_t kLeastSlots = 16;

uint32_t mode_of(const Rule& rule) {
  if (rule.nodes.empty()) return MPOL_DEFAULT;
  if (rule.target == Target::kInterleave) return MPOL_INTERLEAVE;
  if (rule.strict) return MPOL_BIND;
  return rule.nodes.size() > 1 && rule.target != Target::kRatio ? kPreferredMany : uint32_t{MPOL_PREFERRED};
}

// Appends a text with its end, and returns where it begins; 0: it is empty.
uint32_t put_text(std::string& area, const std::string& text) {
  if (text.empty()) return 0;
  const auto at = static_cast<uint32_t>(area.size());
  area += text;
  area += '\0';
  return at;
}

mlrun_place_rule encoded(const Rule& rule, std::string& area) {
  mlrun_place_rule result{};
  result.min_bytes = rule.min_bytes;
  result.max_bytes = rule.max_bytes;
  result.budget_bytes = rule.budget_bytes;
  for (const uint32_t node : rule.nodes) result.nodes[node / 64] |= uint64_t{1} << (node % 64);
  result.calls = rule.calls;
  result.role = rule.role;
  result.site = rule.site;
  result.policy = mode_of(rule);
  result.flags = (rule.huge ? uint32_t{MLRUN_PLACE_HUGE} : 0u) |
                 (rule.target == Target::kRatio ? uint32_t{MLRUN_PLACE_RATIO} : 0u) |
                 (rule.memkind ? uint32_t{MLRUN_PLACE_MEMKIND} : 0u) |
                 (rule.folder.empty() ? 0u : uint32_t{MLRUN_PLACE_FILE});
  result.role_text = put_text(area, rule.role_text);
  result.site_text = put_text(area, rule.site_text);
  result.folder_text = put_text(area, rule.folder);
  result.shares_count = static_cast<uint32_t>(rule.shares.size());
  for (size_t i = 0; i < rule.shares.size(); i++) result.shares[i] = {rule.nodes[i], rule.shares[i]};
  return result;
}

template <typename Value>
void put(std::string& area, size_t at, const Value& value) {
  std::memcpy(area.data() + at, &value, sizeof value);
}

}  // namespace

Result<std::string> encoded_rules(const std::vector<Rule>& rules) {
  if (rules.empty()) return std::string();
  if (rules.size() > MLRUN_PLACE_RULES)
    return fail(fmt::format("--place: {} rules; {} are the most", rules.size(), int{MLRUN_PLACE_RULES}));
  mlrun_placement head{};
  const size_t first = (sizeof head + 7) / 8 * 8;
  std::string area(first + rules.size() * sizeof(mlrun_place_rule), '\0');
  head.rules_count = static_cast<uint32_t>(rules.size());
  head.rules_offset = static_cast<uint32_t>(first);
  head.texts_offset = static_cast<uint32_t>(area.size());
  for (size_t i = 0; i < rules.size(); i++) put(area, first + i * sizeof(mlrun_place_rule), encoded(rules[i], area));
  head.slots_offset = static_cast<uint32_t>((area.size() + 63) / 64 * 64);
  head.slot_bytes = static_cast<uint32_t>(sizeof(mlrun_place_slot) + rules.size() * sizeof(mlrun_place_count));
  if (head.slots_offset + kLeastSlots * head.slot_bytes > MLRUN_PLACE_CACHES_OFFSET) {
    return fail("--place: the texts of the rules are too long; use fewer or shorter ones");
  }
  head.slots_count = (MLRUN_PLACE_CACHES_OFFSET - head.slots_offset) / head.slot_bytes;
  put(area, 0, head);
  return area;
}

}  // namespace mlrun::placement
