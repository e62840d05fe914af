// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/over_time.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

namespace mlrun::sweep {

namespace {

constexpr size_t kMomentsMax = 1000;
constexpr size_t kRoundsMax = 100;              // of about 0.1 s
constexpr size_t kPeakGroups = 128;             // moments that one round adds at most
constexpr size_t kRefillSteps = 1'000'000'000;  // steps that refill() takes at most: some seconds

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
void put_in_order(std::vector<LifeStep>& steps) {
  std::sort(steps.begin(), steps.end(), [](const LifeStep& a, const LifeStep& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.begins() < b.begins();
  });
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

// Sites are numbered as `candidates` has them.
class OverTime {
 public:
  OverTime(std::span<const Site> sites, const std::vector<double>& gains, const std::vector<size_t>& candidates,
           double capacity)
      : capacity_(capacity), codes_(candidates.size()) {
    for (size_t number = 0; number < candidates.size(); number++) {
      add_steps(sites[candidates[number]].lives, number, steps_);
      gain_.push_back(gains[candidates[number]]);
    }
    put_in_order(steps_);
    std::mt19937_64 random(1);  // NOLINT(bugprone-random-generator-seed): the same choice every time
    for (uint64_t& code : codes_) code = random();
  }

  Chosen run() {
    if (steps_.empty()) return {};
    std::vector<size_t> all(codes_.size());
    std::iota(all.begin(), all.end(), 0);
    add_moments(largest_peaks(all, 0));
    Chosen chosen = choose_sites(problem());
    double bound = chosen.bound;
    for (size_t round = 0;; round++) {
      const std::vector<size_t> beyond = largest_peaks(chosen.sites, capacity_);
      if (beyond.empty()) break;
      if (round == kRoundsMax || moments_.size() + beyond.size() > kMomentsMax) {
        chosen = repaired(chosen);
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
      // Compares products, not quotients: a site may have 0 bytes now.
      const auto worst = std::max_element(chosen.sites.begin(), chosen.sites.end(), [&](size_t a, size_t b) {
        return moment[a] * gain_[b] < moment[b] * gain_[a];
      });
      chosen.gain -= gain_[*worst];
      chosen.sites.erase(worst);
    }
  }

  // Adds left-out sites that still fit at every moment, those with the largest gains first.
  void refill(Chosen& chosen) const {
    std::vector<bool> is_chosen(codes_.size());
    for (const size_t site : chosen.sites) is_chosen[site] = true;
    std::vector<size_t> others;
    for (size_t site = 0; site < codes_.size(); site++) {
      if (!is_chosen[site]) others.push_back(site);
    }
    std::stable_sort(others.begin(), others.end(), [&](size_t a, size_t b) { return gain_[a] > gain_[b]; });
    others.resize(std::min(others.size(), kRefillSteps / steps_.size()));
    for (const size_t site : others) {
      chosen.sites.push_back(site);
      if (largest_peaks(chosen.sites, capacity_).empty())
        chosen.gain += gain_[site];
      else
        chosen.sites.pop_back();
    }
    std::sort(chosen.sites.begin(), chosen.sites.end());
  }

  // A choice that fits: what is left of this one and others in its room, or the sites with the largest gains if these gain more.
  [[nodiscard]] Chosen repaired(Chosen chosen) {
    make_fit(chosen);
    refill(chosen);
    Chosen by_gain;
    refill(by_gain);
    if (by_gain.gain > chosen.gain) chosen = std::move(by_gain);
    chosen.is_repaired = true;
    return chosen;
  }

  std::vector<LifeStep> steps_;
  std::vector<double> gain_;
  double capacity_;
  std::vector<uint64_t> codes_;  // a random number for each site: sets of sites have the exclusive or of theirs
  std::vector<std::vector<double>> moments_;  // that limit the choice: bytes of each site
};

}  // namespace

double most_bytes(std::span<const Site> sites, const std::vector<BlockLife>& others) {
  std::vector<LifeStep> steps;
  for (size_t site = 0; site < sites.size(); site++) add_steps(sites[site].lives, site, steps);
  add_steps(others, sites.size(), steps);
  put_in_order(steps);
  double now = 0, most = 0;
  for (const LifeStep& step : steps) {
    now += step.bytes;
    most = std::max(most, now);
  }
  return most;
}

std::vector<size_t> sites_that_fit(std::span<const Site> sites, const std::vector<double>& gains, double capacity) {
  std::vector<size_t> numbers;
  for (size_t site = 0; site < sites.size(); site++) {
    if (gains[site] > 0 && most_bytes(sites.subspan(site, 1)) <= capacity) numbers.push_back(site);
  }
  return numbers;
}

Chosen choose_over_time(std::span<const Site> sites, const std::vector<double>& gains, double capacity,
                        size_t candidates_max) {
  std::vector<size_t> candidates = sites_that_fit(sites, gains, capacity);
  std::vector<double> largest;
  for (const size_t site : candidates) largest.push_back(gains[site]);
  std::sort(largest.begin(), largest.end(), std::greater<>());
  largest.resize(std::min(largest.size(), candidates_max));
  double beyond = 0;  // gain of the sites that fit and are no candidates
  for (; candidates.size() > candidates_max; candidates.pop_back()) beyond += gains[candidates.back()];
  Chosen chosen = OverTime(sites, gains, candidates, capacity).run();
  for (size_t& site : chosen.sites) site = candidates[site];
  const double most = std::min(chosen.bound + beyond, std::accumulate(largest.begin(), largest.end(), 0.0));
  chosen.bound = std::max(most, chosen.gain);
  return chosen;
}

}  // namespace mlrun::sweep
