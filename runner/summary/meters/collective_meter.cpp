// SPDX-License-Identifier: Apache-2.0
#include "runner/summary/meters/collective_meter.h"

#include <algorithm>
#include <tuple>

#include "runner/util/saturating.h"

namespace mlrun::summary {

CollectiveMeter::Sums* CollectiveMeter::sums_of(const model::CollectiveRow& row) {
  Key key{row.communicator, row.operation};
  const auto known = sums_.find(key);
  if (known != sums_.end()) return &known->second;
  if (sums_.size() >= kSumsMax) key = {"", "(of further communicators)"};
  Sums& made = sums_[key];
  std::tie(made.summary.communicator, made.summary.operation) = key;
  return &made;
}

void CollectiveMeter::add(const model::CollectiveRow& row) {
  Sums* sums = sums_of(row);
  CollectiveSummary& sum = sums->summary;
  ++sum.count;
  sum.bytes = util::sum_of(sum.bytes, std::max<int64_t>(row.bytes, 0));
  sum.time_ns = util::sum_of(sum.time_ns, row.dur_ns);
  sum.max_ns = std::max(sum.max_ns, row.dur_ns);
  if (row.ranks) sum.ranks = *row.ranks;
  if (row.sequence && sums->summary.communicator == row.communicator) compare(row, sums);
}

void CollectiveMeter::compare(const model::CollectiveRow& row, Sums* sums) {
  Pending& pending = pending_[row.communicator];
  if (*row.sequence <= pending.given_up) {
    ++late_;
    return;
  }
  const auto [at, is_new] = pending.by_number.try_emplace(*row.sequence);
  Instance& one = at->second;
  if (is_new) one = {sums, row.bytes, row.origin.ts_ns, row.origin.ts_ns, 0, row.origin.proc_id, false};
  ++one.ranks;
  one.differs = one.differs || one.sums != sums || one.bytes != row.bytes;
  one.first_ns = std::min(one.first_ns, row.origin.ts_ns);
  if (row.origin.ts_ns >= one.last_ns)
    std::tie(one.last_ns, one.last_proc_id) = std::tuple(row.origin.ts_ns, row.origin.proc_id);
  if (row.ranks && one.ranks >= *row.ranks) {
    settle(one);
    pending.by_number.erase(at);
  }
  give_up_oldest(pending);
}

// Settles the oldest collectives beyond the communicator's share without waiting for their other ranks.
void CollectiveMeter::give_up_oldest(Pending& pending) {
  const size_t share = std::clamp<size_t>(kPendingMax / pending_.size(), 1, kPendingMost);
  while (pending.by_number.size() > share) {
    const auto oldest = pending.by_number.begin();
    settle(oldest->second);
    pending.given_up = oldest->first;
    pending.by_number.erase(oldest);
  }
}

void CollectiveMeter::settle(const Instance& instance) {
  if (instance.ranks < 2) return;
  if (instance.differs) {
    ++differing_;
    return;
  }
  Sums& sums = *instance.sums;
  sums.skew.add(instance.last_ns - instance.first_ns);
  ++sums.last[instance.last_proc_id];
}

std::vector<CollectiveSummary> CollectiveMeter::finish() {
  for (const auto& [communicator, pending] : pending_) {
    for (const auto& [number, instance] : pending.by_number) settle(instance);
  }
  pending_.clear();
  std::vector<CollectiveSummary> out;
  for (auto& [key, sums] : sums_) {
    CollectiveSummary& sum = out.emplace_back(std::move(sums.summary));
    sum.compared = sums.skew.count();
    if (sum.compared == 0) continue;
    sum.skew_p50_ns = sums.skew.quantile(0.5);
    sum.skew_p99_ns = sums.skew.quantile(0.99);
    sum.skew_max_ns = sums.skew.max();
    for (const auto& [proc_id, times] : sums.last) {
      if (std::tuple(times, -proc_id) <= std::tuple(sum.last_times, -sum.last_proc_id)) continue;
      sum.last_proc_id = proc_id;
      sum.last_times = times;
    }
  }
  const auto rank = [](const CollectiveSummary& of) {
    return std::tuple(-of.time_ns, -of.count, std::string_view(of.communicator), std::string_view(of.operation));
  };
  std::sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (out.size() > kTopCollectives) out.resize(kTopCollectives);
  return out;
}

}  // namespace mlrun::summary
