// SPDX-License-Identifier: Apache-2.0
// Chooses the sites that get the fast memory, so that at every moment the live bytes of the chosen sites fit into it (temporal knapsack;
// pages need not be contiguous, so there is no packing). Each moment has a price per byte. The search looks for prices at which the sites
// whose gain exceeds their price just fill the memory. At any prices, what these sites gain beyond their price plus the value of all
// memory is an upper bound of the gain.
#pragma once

#include <cstddef>
#include <vector>

namespace mlrun::sweep {

struct CapacityProblem {
  size_t sites = 0, moments = 0;
  std::vector<double> gain;  // by site
  std::vector<double> use;   // bytes, [site * moments + moment]
  // Like `use`, but for the upper bound. Where several moments were merged into one, `use` has the maximum of each site, and this the
  // bytes at the moment with the largest total. Empty: the same as `use`.
  std::vector<double> use_at_once;
  double capacity = 0;
};

struct Chosen {
  std::vector<size_t> sites;  // ascending
  double gain = 0;
  double bound = 0;  // upper bound of the gain of any choice
};

Chosen choose_sites(const CapacityProblem& problem);

}  // namespace mlrun::sweep
