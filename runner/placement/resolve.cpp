// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/resolve.h"

#include <charconv>

#include <fmt/format.h>

#include "runner/launch/placement.h"
#include "runner/placement/kinds.h"
#include "runner/placement/rule_file.h"
#include "runner/placement/rule_text.h"

namespace mlrun::placement {

namespace {

Status find_gpu_node(Rule& rule) {
  uint32_t gpu = 0;
  const char* const end = rule.where.data() + rule.where.size();
  const auto read = std::from_chars(rule.where.data(), end, gpu);
  if (read.ec != std::errc() || read.ptr != end) return fail(fmt::format("'{}' is no number of a GPU", rule.where));
  const auto node = node_near_gpu(gpu);
  if (!node) return tl::make_unexpected(node.error());
  rule.where = std::to_string(*node);
  return {};
}

Status find_nodes(Rule& rule) {
  if (rule.target == Target::kDefault || rule.target == Target::kHuge) return {};
  if (rule.target == Target::kNearGpu) {
    if (Status found = find_gpu_node(rule); !found) return found;
  }
  if (rule.target == Target::kKind) {
    const auto nodes = nodes_of_kind(rule.where);
    if (!nodes) return tl::make_unexpected(nodes.error());
    rule.where = launch::id_list_text(*nodes);
  }
  auto nodes = launch::find_memory_nodes(rule.where);
  if (!nodes) return tl::make_unexpected(nodes.error());
  if (nodes->back() >= MLRUN_PLACE_NODES)
    return fail(fmt::format("node {}: rules can name nodes below {}", nodes->back(), int{MLRUN_PLACE_NODES}));
  if (rule.target == Target::kRatio && nodes->size() != rule.shares.size()) {
    return fail(fmt::format("the ratio has {} numbers and {} different nodes", rule.shares.size(), nodes->size()));
  }
  if (nodes->size() > 1 && !rule.strict && rule.target != Target::kInterleave && rule.target != Target::kRatio) {
    // Linux 5.15 has the policy for several
    launch::PlacementTexts texts;
    texts.preferred = rule.where;
    if (const auto policy = launch::find_placement(texts); !policy) {
      return tl::make_unexpected(policy.error());
    }
  }
  rule.nodes = *std::move(nodes);
  return {};
}

Status add_one(const std::string& text, std::vector<Rule>& rules) {
  if (text.find("->") == std::string::npos) {
    auto read = read_rule_file(text);
    if (!read) return tl::make_unexpected(read.error());
    rules.insert(rules.end(), read->begin(), read->end());
    return {};
  }
  auto rule = parse_rule(text);
  if (!rule) return tl::make_unexpected(rule.error());
  rules.push_back(*std::move(rule));
  return {};
}

}  // namespace

Result<std::vector<Rule>> find_rules(const std::vector<std::string>& places, const std::string& mem_kind) {
  std::vector<Rule> rules;
  for (const std::string& text : places) {
    if (const Status added = add_one(text, rules); !added) return fail("--place " + added.error().text);
  }
  if (!mem_kind.empty()) {
    if (!is_kind(mem_kind)) return fail(fmt::format("--mem-kind {}: there are {}", mem_kind, kind_names()));
    if (const Status added = add_one("-> " + mem_kind, rules); !added) return fail("--mem-kind " + added.error().text);
  }
  for (Rule& rule : rules) {
    if (const Status found = find_nodes(rule); !found)
      return fail(fmt::format("--place '{}': {}", rule.text, found.error().text));
  }
  return rules;
}

}  // namespace mlrun::placement
