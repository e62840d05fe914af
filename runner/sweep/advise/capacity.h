// SPDX-License-Identifier: Apache-2.0
// Which sites get the fast memory: at every moment the bytes of the chosen ones that are alive fit into it (temporal knapsack; pages need
// not be neighbours, so there is no packing). Every moment has a price for a byte; the best prices are those at which the sites that are
// worth their price fill the memory. At any prices the gain of those sites and the value of the memory are together an upper bound.
#pragma once

#include <cstddef>
#include <vector>

namespace mlrun::sweep {

struct CapacityProblem {
  size_t sites = 0, moments = 0;
  std::vector<double> gain;  // by site
  std::vector<double> use;   // bytes, [site * moments + moment]
  // The same for the bound, never more than `use`: where several moments were merged into one, `use` has each site's most and this what
  // was alive at once. Empty: `use`.
  std::vector<double> use_at_once;
  double capacity = 0;
};

struct Chosen {
  std::vector<size_t> sites;  // rising
  double gain = 0;
  double bound = 0;  // no choice has more
};

Chosen choose_sites(const CapacityProblem& problem);

}  // namespace mlrun::sweep
