// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/skew.h"

#include <algorithm>
#include <map>

namespace mlrun::nodes {

namespace {

struct Begin {
  int64_t at_ns = 0, error_ns = 0;
  size_t node = 0;
  int32_t proc_id = 0;
};

// Beginnings by number, of all processes.
std::map<int64_t, std::vector<Begin>> begins_of(const std::pair<std::string, std::string>& key,
                                                const Alignment& alignment, size_t& series) {
  std::map<int64_t, std::vector<Begin>> begins;
  for (size_t node = 0; node < alignment.collectives.size(); ++node) {
    const auto found = alignment.collectives[node].find(key);
    if (found == alignment.collectives[node].end()) continue;
    const NodeClock& clock = alignment.clocks[node];
    for (const MomentSeries& of_process : found->second) {
      ++series;
      for (const auto& [number, moment] : of_process.moments)
        begins[number].push_back(
            {clock.line.ours(moment.begin_ns), clock.error_ns(moment.begin_ns), node, of_process.proc_id});
    }
  }
  return begins;
}

int64_t quantile(const std::vector<int64_t>& sorted, size_t percent) {
  return sorted[(sorted.size() - 1) * percent / 100];
}

// The skew is the difference of two readings: their errors add up, but those of one node cancel.
int64_t error_of(const Begin& first, const Begin& last) {
  if (first.node == last.node) return 0;
  return first.error_ns < 0 || last.error_ns < 0 ? kUnknownError : first.error_ns + last.error_ns;
}

}  // namespace

std::vector<SkewFigures> skews_of(const std::vector<NodeTrace>& nodes, const Alignment& alignment,
                                  std::vector<RankFigures>& ranks) {
  std::map<std::pair<std::string, std::string>, size_t> keys;
  for (size_t node = 0; node < nodes.size(); ++node) {
    for (const auto& [key, series] : alignment.collectives[node]) keys[key] += series.size();
  }
  const auto rank_of = [&](const Begin& begin) {
    return std::find_if(ranks.begin(), ranks.end(), [&](const RankFigures& one) {
      return one.node == begin.node && (one.proc_id == begin.proc_id || one.rank < 0);
    });
  };
  std::vector<SkewFigures> skews;
  for (const auto& [key, processes] : keys) {
    size_t series = 0;
    std::vector<int64_t> widths;
    std::map<int32_t, int64_t> last_times;
    SkewFigures skew{key.first, key.second};
    for (auto& [number, begins] : begins_of(key, alignment, series)) {
      if (begins.size() < 2 || begins.size() != processes) continue;
      std::sort(begins.begin(), begins.end(), [](const Begin& a, const Begin& b) { return a.at_ns < b.at_ns; });
      const Begin& last = begins.back();
      widths.push_back(last.at_ns - begins.front().at_ns);
      const int64_t error = error_of(begins.front(), last);
      skew.error_ns = error < 0 || skew.error_ns < 0 ? kUnknownError : std::max(skew.error_ns, error);
      const auto rank = rank_of(last);
      // Within the error it is not known who was last.
      const int64_t late_ns = last.at_ns - begins[begins.size() - 2].at_ns;
      if (rank == ranks.end() || error < 0 || late_ns <= error_of(begins[begins.size() - 2], last)) continue;
      ++rank->last_times;
      rank->late_ns += late_ns;
      ++last_times[rank->rank];
    }
    if (widths.empty()) continue;
    std::sort(widths.begin(), widths.end());
    skew.compared = static_cast<int64_t>(widths.size());
    skew.p50_ns = quantile(widths, 50);
    skew.p99_ns = quantile(widths, 99);
    skew.max_ns = widths.back();
    for (const auto& [rank, times] : last_times) {
      if (times > skew.last_times) skew.last_rank = rank, skew.last_times = times;
    }
    skews.push_back(std::move(skew));
  }
  std::sort(skews.begin(), skews.end(), [](const auto& a, const auto& b) { return a.compared > b.compared; });
  return skews;
}

}  // namespace mlrun::nodes
