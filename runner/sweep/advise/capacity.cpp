// SPDX-License-Identifier: Apache-2.0
#include "runner/sweep/advise/capacity.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace mlrun::sweep {

namespace {

constexpr int kPriceSteps = 200, kLargeSteps = 50;
constexpr double kExact = 1e-9;
constexpr size_t kWork = 40'000'000;  // values of `use` that exchange() reads at most: about 0.1 s
constexpr int kExchangesMax = 4000;
constexpr size_t kBegins = 100;
constexpr int kForceOneIn = 4;

class Search {
 public:
  explicit Search(const CapacityProblem& problem) : p_(problem) {
    for (size_t site = 0; site < p_.sites; site++) {
      if (p_.gain[site] > 0 && most(site) <= p_.capacity) usable_.push_back(site);
    }
    price_.assign(p_.moments, 1.0 / static_cast<double>(std::max<size_t>(p_.moments, 1)));
    bound_ = std::numeric_limits<double>::infinity();
  }

  Chosen run() {
    move_prices();
    begin_with_each();
    exchange();
    std::sort(best_.sites.begin(), best_.sites.end());
    best_.bound = std::max(bound_, best_.gain);
    return best_;
  }

 private:
  [[nodiscard]] const double* use(size_t site) const { return &p_.use[site * p_.moments]; }
  [[nodiscard]] double most(size_t site) const { return *std::max_element(use(site), use(site) + p_.moments); }
  [[nodiscard]] double priced(const double* bytes) const {
    return std::inner_product(price_.begin(), price_.end(), bytes, 0.0);
  }

  // Adds the sites of `order` that fit, in this order. `left`: free bytes at each moment.
  void fill(const std::vector<size_t>& order, std::vector<double>& left, std::vector<bool>& taken,
            Chosen& chosen) const {
    for (const size_t site : order) {
      if (taken[site]) continue;
      const double* const bytes = use(site);
      if (!std::equal(bytes, bytes + p_.moments, left.begin(), std::less_equal<>())) continue;
      for (size_t m = 0; m < p_.moments; m++) left[m] -= bytes[m];
      taken[site] = true;
      chosen.sites.push_back(site);
      chosen.gain += p_.gain[site];
    }
  }

  // The usable sites by gain per price of their bytes, the best first.
  [[nodiscard]] std::vector<size_t> by_worth() const {
    std::vector<double> worth(p_.sites);
    for (const size_t site : usable_) worth[site] = p_.gain[site] / std::max(priced(use(site)), kExact);
    std::vector<size_t> order = usable_;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return worth[a] > worth[b]; });
    return order;
  }

  void try_order(const std::vector<size_t>& order) {
    std::vector<double> left(p_.moments, p_.capacity);
    std::vector<bool> taken(p_.sites);
    Chosen found;
    fill(order, left, taken, found);
    if (found.gain > best_.gain) {
      best_ = std::move(found);
      best_order_ = order;
    }
  }

  // The upper bound at the current prices. `slope`: bytes that stay free at each moment if all sites worth their price are taken; below
  // 0: too few.
  double bound_here(std::vector<double>& slope) const {
    double value = p_.capacity * std::accumulate(price_.begin(), price_.end(), 0.0);
    slope.assign(p_.moments, p_.capacity);
    for (const size_t site : usable_) {
      const double* const bytes = use(site);
      const double worth = p_.gain[site] - priced(bytes);
      if (worth <= 0) continue;
      value += worth;
      for (size_t m = 0; m < p_.moments; m++) slope[m] -= bytes[m];
    }
    return value;
  }

  // Subgradient steps: the price of a moment rises while the sites worth their price do not fit, and falls while bytes stay free.
  void move_prices() {
    std::vector<double> slope;
    for (int step = 0; step < kPriceSteps; step++) {
      bound_ = std::min(bound_, bound_here(slope));
      try_order(by_worth());
      const double norm = std::inner_product(slope.begin(), slope.end(), slope.begin(), 0.0);
      const double gap = bound_ - best_.gain;
      if (norm == 0 || gap <= kExact * bound_) break;
      const double length = gap / norm * (step < kLargeSteps ? 2 : 0.7);
      for (size_t m = 0; m < p_.moments; m++) price_[m] = std::max(0.0, price_[m] - length * slope[m]);
    }
  }

  // The order by gain per price misses a site with a large gain and many bytes if a few small sites come before it. So tries each
  // of the sites with the largest gains as the first one.
  void begin_with_each() {
    std::vector<size_t> order = by_worth(), first = usable_;
    std::stable_sort(first.begin(), first.end(), [&](size_t a, size_t b) { return p_.gain[a] > p_.gain[b]; });
    first.resize(std::min(first.size(), kBegins));
    for (const size_t site : first) {
      std::vector<size_t> with = {site};
      with.insert(with.end(), order.begin(), order.end());
      try_order(with);
      with = best_order_;
      with.insert(with.begin(), site);
      try_order(with);
    }
  }

  // Local search. Most rounds remove one to three sites, fill the room with others in a slightly shuffled order, then add removed ones that
  // still fit. One in kForceOneIn adds a site first, and removes what it leaves no room for.
  void exchange() {
    std::minstd_rand random(1);  // NOLINT(bugprone-random-generator-seed): the same choice every time
    const size_t each = std::max<size_t>(usable_.size() * p_.moments, 1);
    const int rounds = static_cast<int>(std::min<size_t>(kWork / each, kExchangesMax));
    Chosen now = best_;
    for (int round = 0; round < rounds && !now.sites.empty() && bound_ - best_.gain > kExact * bound_; round++) {
      std::vector<size_t> order = best_order_;
      for (size_t i = 0; i + 1 < order.size(); i++) {
        if (random() % 4 == 0) std::swap(order[i], order[i + 1 + random() % std::min<size_t>(3, order.size() - i - 1)]);
      }
      const Chosen found = round % kForceOneIn == 0 ? with_forced(usable_[random() % usable_.size()], now, order)
                                                    : without_some(now, order, random);
      if (found.gain >= now.gain) now = found;
      if (found.gain > best_.gain) best_ = found;
    }
  }

  [[nodiscard]] Chosen without_some(const Chosen& now, const std::vector<size_t>& order,
                                    std::minstd_rand& random) const {
    std::vector<size_t> kept = now.sites;
    std::shuffle(kept.begin(), kept.end(), random);
    const size_t out = std::min<size_t>(1 + random() % 3, kept.size());
    const std::vector<size_t> removed(kept.end() - static_cast<std::ptrdiff_t>(out), kept.end());
    kept.resize(kept.size() - out);
    std::vector<double> left(p_.moments, p_.capacity);
    std::vector<bool> taken(p_.sites);
    Chosen found;
    fill(kept, left, taken, found);
    for (const size_t site : removed) taken[site] = true;
    fill(order, left, taken, found);
    for (const size_t site : removed) taken[site] = false;
    fill(removed, left, taken, found);
    return found;
  }

  [[nodiscard]] Chosen with_forced(size_t forced, const Chosen& now, const std::vector<size_t>& order) const {
    std::vector<bool> is_chosen(p_.sites);
    for (const size_t site : now.sites) is_chosen[site] = true;
    std::vector<size_t> first = {forced};
    std::copy_if(order.begin(), order.end(), std::back_inserter(first), [&](size_t site) { return is_chosen[site]; });
    std::vector<double> left(p_.moments, p_.capacity);
    std::vector<bool> taken(p_.sites);
    Chosen found;
    fill(first, left, taken, found);
    fill(order, left, taken, found);
    return found;
  }

  const CapacityProblem& p_;
  std::vector<size_t> usable_, best_order_;
  std::vector<double> price_;
  double bound_ = 0;
  Chosen best_;
};

}  // namespace

Chosen choose_sites(const CapacityProblem& problem) {
  if (problem.sites == 0 || problem.moments == 0) return {};
  return Search(problem).run();
}

}  // namespace mlrun::sweep
