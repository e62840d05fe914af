// SPDX-License-Identifier: Apache-2.0
// choose_sites and, with the argument "lives", choose_over_time for against_highs.py. Input, any number of times: SITES CAPACITY, the gains, and
// MOMENTS and the bytes of each site at each moment, or BLOCKS and of each block its site, begin, end and bytes.
// A line for each: gain, bound, numbers of the chosen sites.
#include <iomanip>
#include <iostream>
#include <string>

#include "runner/sweep/advise/over_time.h"

using namespace mlrun::sweep;

static Chosen choose_by_moments(const std::vector<double>& gains, double capacity) {
  CapacityProblem problem{gains.size(), 0, gains, {}, capacity};
  std::cin >> problem.moments;
  problem.use.resize(problem.sites * problem.moments);
  for (double& bytes : problem.use) std::cin >> bytes;
  return choose_sites(problem);
}

static Chosen choose_by_lives(const std::vector<double>& gains, double capacity) {
  std::vector<Site> sites(gains.size());
  size_t blocks = 0, site = 0;
  for (std::cin >> blocks; blocks > 0; blocks--) {
    BlockLife life;
    std::cin >> site >> life.from_ns >> life.to_ns >> life.bytes;
    sites.at(site).lives.push_back(life);
  }
  return choose_over_time(sites, gains, capacity);
}

int main(int argc, char** argv) {
  const bool has_lives = argc > 1 && argv[1] == std::string("lives");
  size_t sites = 0;
  double capacity = 0;
  while (std::cin >> sites >> capacity) {
    std::vector<double> gains(sites);
    for (double& gain : gains) std::cin >> gain;
    const Chosen chosen = has_lives ? choose_by_lives(gains, capacity) : choose_by_moments(gains, capacity);
    std::cout << std::setprecision(17) << chosen.gain << ' ' << chosen.bound;
    for (const size_t one : chosen.sites) std::cout << ' ' << one;
    std::cout << '\n';
  }
}
