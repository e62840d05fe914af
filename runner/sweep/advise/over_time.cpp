// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/over_time.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>

namespace mlrun::sweep {

namespace {

constexpr size_t kMomentsMax = 1000, kRoundsMax = 30;
constexpr size_t kPeakGroups = 128;  // moments that one round adds at most

// A block begins or ends. bytes: that are alive more; below 0: less.
struct LifeStep {
  int64_t at_ns;
  size_t site;
  double bytes;

  [[nodiscard]] bool begins() const { return bytes > 0; }
};

void add_steps(const std::vector<BlockLife>& lives, size_t site, std::vector<LifeStep>& steps) {
  for (const BlockLife& life : lives) {
    if (life.to_ns <= life.from_ns) continue;
    steps.push_back({life.from_ns, site, static_cast<double>(life.bytes)});
    steps.push_back({life.to_ns, site, -static_cast<double>(life.bytes)});
  }
}

// In order of time. A block that ends makes room for one that begins at that moment.
std::vector<LifeStep> steps_of(std::span<const Site> sites, const std::vector<BlockLife>& others) {
  std::vector<LifeStep> steps;
  for (size_t site = 0; site < sites.size(); site++) add_steps(sites[site].lives, site, steps);
  add_steps(others, sites.size(), steps);
  std::sort(steps.begin(), steps.end(), [](const LifeStep& a, const LifeStep& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.begins() < b.begins();
  });
  return steps;
}

// Calls at_peak(number of the step) before a block ends, if one has begun since the last peak, and after(step) for each step. At all other
// moments no site has more bytes than at a peak next to them.
template <typename AtPeak, typename After>
void for_each_peak(const std::vector<LifeStep>& steps, AtPeak at_peak, After after) {
  bool rises = false;
  for (size_t number = 0; number < steps.size(); number++) {
    const bool begins = steps[number].begins();
    if (rises && !begins) at_peak(number);
    rises = begins;
    after(steps[number]);
  }
}

class OverTime {
 public:
  OverTime(std::span<const Site> sites, const std::vector<double>& gains, double capacity)
      : steps_(steps_of(sites, {})), gain_(gains), capacity_(capacity), codes_(sites.size()) {
    std::mt19937_64 random(1);
    for (uint64_t& code : codes_) code = random();
  }

  Chosen run() {
    if (steps_.empty()) return {};
    leave_out_too_large();
    std::vector<size_t> all(codes_.size());
    std::iota(all.begin(), all.end(), 0);
    add_moments(largest_peaks(all, 0));
    Chosen chosen = choose_sites(problem());
    double bound = chosen.bound;
    for (size_t round = 0;; round++) {
      const std::vector<size_t> beyond = largest_peaks(chosen.sites, capacity_);
      if (beyond.empty()) break;
      if (round == kRoundsMax || moments_.size() + beyond.size() > kMomentsMax) {
        make_fit(chosen);
        break;
      }
      add_moments(beyond);
      chosen = choose_sites(problem());
      bound = std::min(bound, chosen.bound);
    }
    chosen.bound = std::max(bound, chosen.gain);
    return chosen;
  }

 private:
  // Sites that do not fit by themselves gain nothing.
  void leave_out_too_large() {
    std::vector<double> now(codes_.size());
    for (const LifeStep& step : steps_) {
      now[step.site] += step.bytes;
      if (now[step.site] > capacity_) gain_[step.site] = 0;
    }
  }

  // Adds the bytes of all sites at these peaks. `peaks`: ascending.
  void add_moments(const std::vector<size_t>& peaks) {
    std::vector<double> now(codes_.size());
    auto next = peaks.begin();
    for_each_peak(
        steps_,
        [&](size_t number) {
          if (next == peaks.end() || number != *next) return;
          if (std::find(moments_.begin(), moments_.end(), now) == moments_.end()) moments_.push_back(now);
          ++next;
        },
        [&](const LifeStep& step) { now[step.site] += step.bytes; });
  }

  [[nodiscard]] CapacityProblem problem() const {
    CapacityProblem problem;
    problem.sites = codes_.size();
    problem.moments = moments_.size();
    problem.gain = gain_;
    problem.capacity = capacity_;
    for (size_t site = 0; site < problem.sites; site++) {
      for (const std::vector<double>& moment : moments_) problem.use.push_back(moment[site]);
    }
    return problem;
  }

  // The peaks at which these sites have more bytes than `limit`, ascending: of each group the largest. Peaks with the same sites alive are in
  // one group: of a loop each phase is seen, and its repetitions are one moment.
  [[nodiscard]] std::vector<size_t> largest_peaks(const std::vector<size_t>& chosen, double limit) const {
    struct Largest {
      double bytes = 0;
      size_t number = 0;
    };
    std::array<Largest, kPeakGroups> groups{};
    std::vector<bool> is_chosen(codes_.size());
    for (const size_t site : chosen) is_chosen[site] = true;
    std::vector<int64_t> blocks(codes_.size());  // alive
    uint64_t alive = 0;                          // code of the set of sites that are alive
    double bytes = 0;
    for_each_peak(
        steps_,
        [&](size_t number) {
          Largest& group = groups[alive % kPeakGroups];
          if (bytes > limit && bytes > group.bytes) group = {bytes, number};
        },
        [&](const LifeStep& step) {
          int64_t& count = blocks[step.site];
          const bool was_alive = count > 0;
          count += step.begins() ? 1 : -1;
          if (was_alive != (count > 0)) alive ^= codes_[step.site];
          if (is_chosen[step.site]) bytes += step.bytes;
        });
    std::vector<size_t> numbers;
    for (const Largest& group : groups) {
      if (group.bytes > 0) numbers.push_back(group.number);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  // Leaves out the sites with the smallest gain per byte where the choice does not fit.
  void make_fit(Chosen& chosen) {
    for (;;) {
      moments_.clear();
      add_moments(largest_peaks(chosen.sites, capacity_));
      if (moments_.empty()) return;
      for (const std::vector<double>& moment : moments_) leave_out(moment, chosen);
    }
  }

  void leave_out(const std::vector<double>& moment, Chosen& chosen) const {
    const auto bytes = [&] {
      double sum = 0;
      for (const size_t site : chosen.sites) sum += moment[site];
      return sum;
    };
    while (bytes() > capacity_) {
      // Products, as a site may have no bytes at this moment.
      const auto worst = std::max_element(chosen.sites.begin(), chosen.sites.end(), [&](size_t a, size_t b) {
        return moment[a] * gain_[b] < moment[b] * gain_[a];
      });
      chosen.gain -= gain_[*worst];
      chosen.sites.erase(worst);
    }
  }

  std::vector<LifeStep> steps_;
  std::vector<double> gain_;
  double capacity_;
  std::vector<uint64_t> codes_;  // a random number for each site: sets of sites have the exclusive or of theirs
  std::vector<std::vector<double>> moments_;  // that limit the choice: bytes of each site
};

}  // namespace

double most_bytes(std::span<const Site> sites, const std::vector<BlockLife>& others) {
  double now = 0, most = 0;
  for (const LifeStep& step : steps_of(sites, others)) {
    now += step.bytes;
    most = std::max(most, now);
  }
  return most;
}

Chosen choose_over_time(std::span<const Site> sites, const std::vector<double>& gains, double capacity) {
  return OverTime(sites, gains, capacity).run();
}

}  // namespace mlrun::sweep
