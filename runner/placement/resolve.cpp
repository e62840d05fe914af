// SPDX-License-Identifier: Apache-2.0
#include "runner/placement/resolve.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "runner/events/placed_mappings.h"
#include "runner/launch/placement.h"
#include "runner/placement/huge_pages.h"
#include "runner/placement/kinds.h"
#include "runner/placement/memkind.h"
#include "runner/placement/pmem.h"
#include "runner/placement/rule_file.h"
#include "runner/placement/rule_text.h"
#include "runner/util/id_list.h"
#include "runner/util/memory_kinds.h"
#include "runner/util/number.h"
#include "runner/util/text.h"

namespace mlrun::placement {

namespace {

Status find_gpu_node(Rule& rule) {
  const auto gpu = util::whole_number<uint32_t>(rule.where);
  if (!gpu) return fail(fmt::format("'{}' is not a GPU number", rule.where));
  const auto node = node_near_gpu(*gpu);
  if (!node) return tl::make_unexpected(node.error());
  rule.where = std::to_string(*node);
  return {};
}

// Whether a list such as "0,2-3" is written in rising order.
bool is_rising(std::string_view list) {
  int64_t before = -1;
  for (const std::string_view part : util::split(list, ",")) {
    for (const std::string_view number : util::split(part, "-")) {
      int64_t node = -1;
      std::from_chars(number.data(), number.data() + number.size(), node);
      if (node <= before) return false;
      before = node;
    }
  }
  return true;
}

// Checks what a rule says about its nodes, without looking at this machine.
Status check_nodes(const Rule& rule, const util::IdList& nodes) {
  if (nodes.back() >= MLRUN_PLACE_NODES)
    return fail(fmt::format("node {}: rules can name nodes below {}", nodes.back(), int{MLRUN_PLACE_NODES}));
  if (rule.target != Target::kRatio) return {};
  if (!is_rising(rule.where))
    return fail(
        fmt::format("write the nodes of a ratio in rising order, and its numbers in the same order: node {}, not {}",
                    util::id_list_text(nodes), rule.where));
  if (nodes.size() != rule.shares.size())
    return fail(fmt::format("the ratio has {} numbers and {} different nodes", rule.shares.size(), nodes.size()));
  return {};
}

bool lists_nodes(const Rule& rule) {
  return rule.target == Target::kNodes || rule.target == Target::kInterleave || rule.target == Target::kRatio;
}

Status find_nodes(Rule& rule) {
  if (rule.target == Target::kDefault || rule.target == Target::kHuge || rule.target == Target::kPmem) return {};
  if (rule.target == Target::kNearGpu) {
    if (Status found = find_gpu_node(rule); !found) return found;
  }
  if (rule.target == Target::kKind) {
    const auto nodes = nodes_of_kind(rule.where);
    if (!nodes) return tl::make_unexpected(nodes.error());
    rule.where = util::id_list_text(*nodes);
  }
  auto nodes = launch::find_memory_nodes(rule.where);
  if (!nodes) return tl::make_unexpected(nodes.error());
  if (const Status good = check_nodes(rule, *nodes); !good) return good;
  if (const Status has = check_kernel(rule, *nodes); !has) return has;
  rule.nodes = *std::move(nodes);
  return {};
}

Status add_one(const std::string& text, std::vector<Rule>& rules) {
  if (!is_rule_text(text)) {
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

bool needs_folder(const Rule& rule) { return rule.target == Target::kPmem; }

// The target pmem and --pmem need each other.
Status check_folder(const std::string& text, const std::vector<Rule>& rules) {
  const auto first = std::find_if(rules.begin(), rules.end(), needs_folder);
  if (first == rules.end() && !text.empty())
    return fail("--pmem: no rule has the target pmem; add --place 'size >= 1M -> pmem'");
  if (first != rules.end() && text.empty())
    return fail(fmt::format("--place '{}': the target pmem needs a folder; add --pmem DIR", first->text));
  return {};
}

// Each process makes a file for each rule with the target pmem, as large as the addresses of its heap.
Status check_file_limit(size_t rules, uint64_t file_bytes_max) {
  const uint64_t needed = MLRUN_PLACE_SEGMENTS / rules / 2 * uint64_t{MLRUN_PLACE_SEGMENT};
  if (file_bytes_max >= needed) return {};
  return fail(fmt::format(
      "the files that this shell allows (ulimit -f) are too small: the target pmem needs a sparse one of {} GiB; "
      "write 'ulimit -f unlimited' first",
      needed >> 30));
}

// Gives the rules with the target pmem the folder of --pmem; its size limits their budgets.
Status find_folder(const RuleTexts& texts, std::vector<Rule>& rules) {
  const std::string& text = texts.pmem;
  if (text.empty()) return {};
  if (const Status may = check_file_limit(rules.size(), texts.file_bytes_max); !may)
    return fail(fmt::format("--pmem {}: {}", text, may.error().text));
  const auto folder = find_pmem_folder(text);
  if (!folder) return fail(fmt::format("--pmem {}: {}", text, folder.error().text));
  for (Rule& rule : rules) {
    if (!needs_folder(rule)) continue;
    rule.folder = folder->path;
    if (folder->bytes != 0 && (rule.budget_bytes == 0 || rule.budget_bytes > folder->bytes))
      rule.budget_bytes = folder->bytes;
  }
  return {};
}

Status check_list(const Rule& rule) {
  if (!lists_nodes(rule)) return {};
  const auto nodes = util::parse_id_list(rule.where);
  return nodes ? check_nodes(rule, *nodes) : tl::make_unexpected(nodes.error());
}

// An error about one rule. --mem-kind is shown as it was given.
tl::unexpected<Error> fault_of(const Rule& rule, const RuleTexts& texts, const std::vector<Rule>& rules,
                               const Error& error) {
  const bool is_kind_alone = !texts.mem_kind.empty() && &rule == &rules.back();
  const std::string option = is_kind_alone ? "--mem-kind " + texts.mem_kind : fmt::format("--place '{}'", rule.text);
  return fail(fmt::format("{}: {}", option, error.text));
}

}  // namespace

Status check_kernel(const Rule& rule, const util::IdList& nodes) {
  const bool is_preferred = !rule.strict && rule.target != Target::kInterleave && rule.target != Target::kRatio;
  if (!is_preferred || nodes.size() < 2 || launch::kernel_has(launch::MemoryPolicy::kPreferred, nodes)) return {};
  return fail(
      fmt::format("several nodes ({}) without strict need Linux 5.15; name one node, such as -> node {}, or add "
                  "strict",
                  util::id_list_text(nodes), nodes.front()));
}

const char* policy_of(const Rule& rule) {
  if (rule.nodes.empty()) return "";
  if (rule.target == Target::kInterleave) return "interleave";
  if (rule.target == Target::kRatio) return "ratio";
  return rule.strict ? "bind" : "preferred";
}

Result<std::vector<Rule>> read_rules(const RuleTexts& texts) {
  const std::string& mem_kind = texts.mem_kind;
  std::vector<Rule> rules;
  for (const std::string& text : texts.place) {
    if (const Status added = add_one(text, rules); !added) return fail("--place " + added.error().text);
  }
  if (!mem_kind.empty()) {
    if (!is_kind(mem_kind))
      return fail(fmt::format("--mem-kind {}: no such kind; there are {}", mem_kind, util::memory_kind_names()));
    if (const Status added = add_one("-> " + mem_kind, rules); !added) return fail("--mem-kind " + added.error().text);
  }
  for (const Rule& rule : rules) {
    if (const Status good = check_list(rule); !good) return fault_of(rule, texts, rules, good.error());
  }
  if (const Status good = check_folder(texts.pmem, rules); !good) return tl::make_unexpected(good.error());
  return rules;
}

Result<std::vector<Rule>> find_rules(const RuleTexts& texts) {
  auto rules = read_rules(texts);
  if (!rules) return rules;
  for (Rule& rule : *rules) {
    Status found = find_nodes(rule);
    if (found && rule.memkind) found = check_memkind();
    if (found && rule.huge) found = check_huge_pages();
    if (!found) return fault_of(rule, texts, *rules, found.error());
  }
  if (const Status found = find_folder(texts, *rules); !found) return tl::make_unexpected(found.error());
  return rules;
}

}  // namespace mlrun::placement
