// SPDX-License-Identifier: Apache-2.0
// choose_sites for against_highs.py. Input: SITES MOMENTS CAPACITY, the gains, the bytes of each site at each moment; any number of these.
// A line for each: gain, bound, numbers of the chosen sites.
#include <iomanip>
#include <iostream>

#include "runner/sweep/advise/capacity.h"

int main() {
  mlrun::sweep::CapacityProblem problem;
  while (std::cin >> problem.sites >> problem.moments >> problem.capacity) {
    problem.gain.resize(problem.sites);
    problem.use.resize(problem.sites * problem.moments);
    for (double& gain : problem.gain) std::cin >> gain;
    for (double& bytes : problem.use) std::cin >> bytes;
    const mlrun::sweep::Chosen chosen = choose_sites(problem);
    std::cout << std::setprecision(17) << chosen.gain << ' ' << chosen.bound;
    for (const size_t site : chosen.sites) std::cout << ' ' << site;
    std::cout << '\n';
  }
}
