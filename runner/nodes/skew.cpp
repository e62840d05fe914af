// SPDX-License-Identifier: Apache-2.0
#include "runner/nodes/skew.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runner/util/log_histogram.h"

namespace mlrun::nodes {

namespace {

struct Begin {
  int64_t at_ns = 0, error_ns = 0;
  const Moment* of = nullptr;
};

// The error of the difference of two times: the clock errors of two nodes add up, that of one node cancels.
int64_t error_of(const Begin& first, const Begin& last) {
  if (first.of->node == last.of->node) return 0;
  return first.error_ns < 0 || last.error_ns < 0 ? kUnknownError : first.error_ns + last.error_ns;
}

// Finds ranks by their processes. The row of a trace without ranks matches all processes of its node.
class RankPlaces {
 public:
  explicit RankPlaces(const std::vector<RankFigures>& ranks) {
    for (size_t i = 0; i < ranks.size(); ++i)
      places_.emplace(key(ranks[i].node, ranks[i].rank < 0, ranks[i].proc_id), i);
  }
  static constexpr size_t kNone = SIZE_MAX;
  [[nodiscard]] size_t find(const Moment& moment) const {
    for (const bool is_driver : {false, true}) {
      if (const auto at = places_.find(key(moment.node, is_driver, moment.proc_id)); at != places_.end())
        return at->second;
    }
    return kNone;
  }

 private:
  using Key = std::pair<size_t, int32_t>;
  static Key key(size_t node, bool is_driver, int32_t proc_id) { return {node, is_driver ? -1 : proc_id}; }
  std::map<Key, size_t> places_;
};

// The skew of one communicator or one name of marks. A collective counts if all processes began it. The number of processes is known only
// at the end, so until then the collectives with the most processes so far count.
class OneSkew {
 public:
  OneSkew(const Alignment& alignment, const RankPlaces& places) : alignment_(alignment), places_(places) {}

  void add(const std::vector<Moment>& group) {
    note_processes(group);
    if (group.size() < 2 || group.size() < most_) return;
    if (group.size() > most_) {
      most_ = group.size();
      widths_ = {};
      error_ns_ = 0;
      last_.clear();
    }
    begins_.clear();
    for (const Moment& one : group) {
      const NodeClock& clock = alignment_.clocks[one.node];
      begins_.push_back({clock.line.ours(one.begin_ns), clock.error_ns(one.begin_ns), &one});
    }
    std::sort(begins_.begin(), begins_.end(), [](const Begin& a, const Begin& b) { return a.at_ns < b.at_ns; });
    const Begin &last = begins_.back(), &before = begins_[begins_.size() - 2];
    widths_.add(last.at_ns - begins_.front().at_ns);
    const int64_t error = error_of(begins_.front(), last);
    error_ns_ = error < 0 || error_ns_ < 0 ? kUnknownError : std::max(error_ns_, error);
    // Within the error it is not known which process was last.
    const int64_t late_ns = last.at_ns - before.at_ns;
    const size_t place = places_.find(*last.of);
    if (place == RankPlaces::kNone || error < 0 || late_ns <= error_of(before, last)) return;
    auto& [times, late] = last_[place];
    ++times;
    late += late_ns;
  }

  // Adds the skew to `skews`, and each rank's share to `ranks`, if at least one moment had all processes.
  void finish(const Moments::Key& key, std::vector<RankFigures>& ranks, std::vector<SkewFigures>& skews) const {
    if (most_ < 2 || most_ != processes_.size()) return;
    SkewFigures& skew = skews.emplace_back(SkewFigures{key.name, key.operation});
    skew.compared = widths_.count();
    skew.p50_ns = widths_.quantile(0.5);
    skew.p99_ns = widths_.quantile(0.99);
    skew.max_ns = widths_.max();
    skew.error_ns = error_ns_;
    for (const auto& [place, last] : last_) {
      ranks[place].last_times += last.first;
      ranks[place].late_ns += last.second;
      if (last.first > skew.last_times) skew.last_rank = ranks[place].rank, skew.last_times = last.first;
    }
    for (const auto& [node, proc_id] : processes_) {
      if (const size_t place = places_.find({.node = node, .proc_id = proc_id}); place != RankPlaces::kNone)
        skew.age = ranks[place].age;
    }
  }

 private:
  // Remembers the processes of a moment. They are mostly those of the moment before, which is the fast case.
  void note_processes(const std::vector<Moment>& group) {
    const auto is_same = [&](size_t i) {
      return before_[i].first == group[i].node && before_[i].second == group[i].proc_id;
    };
    bool is_known = before_.size() == group.size();
    for (size_t i = 0; is_known && i < group.size(); ++i) is_known = is_same(i);
    if (is_known) return;
    before_.clear();
    for (const Moment& one : group) before_.emplace_back(one.node, one.proc_id);
    processes_.insert(before_.begin(), before_.end());
  }

  const Alignment& alignment_;
  const RankPlaces& places_;
  std::set<std::pair<uint32_t, int32_t>> processes_;
  std::vector<std::pair<uint32_t, int32_t>> before_;
  std::vector<Begin> begins_;
  size_t most_ = 0;
  util::LogHistogram widths_;
  int64_t error_ns_ = 0;
  std::map<size_t, std::pair<int64_t, int64_t>> last_;  // by index in the ranks: how often last, and how late in sum
};

}  // namespace

std::vector<SkewFigures> skews_of(const Alignment& alignment, std::vector<RankFigures>& ranks) {
  const RankPlaces places(ranks);
  std::vector<SkewFigures> skews;
  std::optional<OneSkew> one;
  uint32_t key = 0;
  alignment.moments->for_each_group([&](const std::vector<Moment>& group) {
    if (one && group.front().key != key) {
      one->finish(alignment.moments->key(key), ranks, skews);
      one.reset();
    }
    if (!one) one.emplace(alignment, places);
    key = group.front().key;
    one->add(group);
  });
  if (one) one->finish(alignment.moments->key(key), ranks, skews);
  std::stable_sort(skews.begin(), skews.end(), [](const auto& a, const auto& b) { return a.compared > b.compared; });
  return skews;
}

}  // namespace mlrun::nodes
