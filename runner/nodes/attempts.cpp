// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/attempts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace mlrun::nodes {

namespace {

using Span = std::pair<int64_t, int64_t>;

// When each attempt began and ended, by UTC.
std::vector<Span> spans_of(const NodeTrace& node, int64_t utc_offset_ns) {
  std::vector<Span> spans(static_cast<size_t>(node.attempts), {INT64_MAX, INT64_MIN});
  for (const Rank& rank : node.ranks) {
    auto& [begin, end] = spans[static_cast<size_t>(rank.attempt) - 1];
    begin = std::min(begin, rank.first_ns + utc_offset_ns);
    end = std::max(end, rank.last_ns + utc_offset_ns);
  }
  return spans;
}

// For each span the index of the one in `others` that it overlaps longest. Empty: a span overlaps none, or the indices do not increase.
std::vector<size_t> same_spans(const std::vector<Span>& spans, const std::vector<Span>& others) {
  std::vector<size_t> same;
  for (const auto& [begin, end] : spans) {
    int64_t most = 0;
    size_t best = others.size();
    for (size_t i = 0; i < others.size(); ++i) {
      const int64_t common = std::min(end, others[i].second) - std::max(begin, others[i].first);
      if (common > most) most = common, best = i;
    }
    if (best == others.size() || (!same.empty() && best <= same.back())) return {};
    same.push_back(best);
  }
  return same;
}

}  // namespace

// A new attempt begins with a process whose rank or local rank a process that has ended had. Both count, as torchrun may change the ranks.
void number_attempts(NodeTrace& node) {
  std::stable_sort(node.ranks.begin(), node.ranks.end(),
                   [](const Rank& a, const Rank& b) { return a.first_ns < b.first_ns; });
  size_t first = 0;  // the first rank of the attempt
  for (size_t i = 0; i < node.ranks.size(); ++i) {
    const Rank& rank = node.ranks[i];
    const bool is_again = std::any_of(
        node.ranks.begin() + static_cast<std::ptrdiff_t>(first), node.ranks.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const Rank& other) {
          const bool is_same = other.rank == rank.rank || (rank.local_rank >= 0 && other.local_rank == rank.local_rank);
          return is_same && other.last_ns <= rank.first_ns;
        });
    if (is_again) ++node.attempts, first = i;
    node.ranks[i].attempt = node.attempts;
  }
}

// Matches attempts by the wall clock. Where that is ambiguous, attempts are counted back from the last one, since a node may join late.
void match_attempts(std::vector<NodeTrace>& nodes) {
  for (NodeTrace& node : nodes) {
    for (Rank& rank : node.ranks) rank.age = node.attempts - rank.attempt;
  }
  const auto most = std::max_element(nodes.begin(), nodes.end(),
                                     [](const auto& a, const auto& b) { return a.attempts < b.attempts; });
  const auto utc = most == nodes.end() ? std::nullopt : most->utc_offset_ns(false);
  if (!utc || most->attempts == 1) return;
  const std::vector<Span> spans = spans_of(*most, *utc);
  for (NodeTrace& node : nodes) {
    const auto own = node.utc_offset_ns(false);
    if (!own || node.ranks.empty()) continue;
    const std::vector<size_t> same = same_spans(spans_of(node, *own), spans);
    for (Rank& rank : node.ranks) {
      if (same.empty()) break;
      rank.age = most->attempts - 1 - static_cast<int32_t>(same[static_cast<size_t>(rank.attempt) - 1]);
    }
  }
}

// The attempt whose ranks are compared is the one in which the ranks together lived longest.
void choose_attempt(NodeTraces& traces) {
  std::map<int32_t, int64_t> lived;  // by age
  const NodeTrace *most = nullptr, *least = nullptr;
  for (const NodeTrace& node : traces.nodes) {
    if (node.ranks.empty()) continue;
    for (const Rank& rank : node.ranks) lived[rank.age] += rank.last_ns - rank.first_ns;
    if (most == nullptr || node.attempts > most->attempts) most = &node;
    if (least == nullptr || node.attempts < least->attempts) least = &node;
  }
  if (lived.size() < 2) return;
  const auto longest =
      std::max_element(lived.begin(), lived.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  traces.compared_age = longest->first;
  std::string line = fmt::format("the ranks on {} were started {} times", most->name, most->attempts);
  if (most->attempts != least->attempts) {
    line += fmt::format(", those on {} {}", least->name,
                        least->attempts == 1 ? "once" : fmt::format("{} times", least->attempts));
  }
  traces.problems.push_back(fmt::format("{}; the ranks of attempt {} are compared, which ran longest", line,
                                        most->attempts - traces.compared_age));
}

}  // namespace mlrun::nodes
