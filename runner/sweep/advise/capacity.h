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
  double capacity = 0;
};

struct Chosen {
  std::vector<size_t> sites;  // ascending
  double gain = 0;
  double bound = 0;          // upper bound of the gain of any choice
  bool is_repaired = false;  // by choose_over_time(): more moments limit the choice than it looks at together
};

Chosen choose_sites(const CapacityProblem& problem);

}  // namespace mlrun::sweep
