// SPDX-License-Identifier: Apache-2.0
// Chooses sites for a whole run. A run has as many moments as blocks end, often millions in loops, and few of them limit the choice. So the
// choice begins with some moments, and those at which it does not fit are added until it fits at all of them:
//
//   lives of blocks ─> peaks ─> the largest of each phase ─> choose_sites ─> fits at every peak? ─ yes ─> done
//                                                                 ^                  │ no
//                                                                 └─ with the peaks that it exceeds
//
// Fewer moments limit a choice less, so the bound of each round is one for all moments. If too many moments limit the choice, sites leave it
// until it fits, and others take the room that is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runner/sweep/advise/capacity.h"
#include "runner/sweep/advise/trace_sites.h"

namespace mlrun::sweep {

// The most bytes of all these sites, and of the other blocks, that are alive at one moment.
double most_bytes(std::span<const Site> sites, const std::vector<BlockLife>& others = {});

// The sites that gain something and fit into `capacity` bytes by themselves, ascending. `gains`: of each site.
std::vector<size_t> sites_that_fit(std::span<const Site> sites, const std::vector<double>& gains, double capacity);

// Chooses among the first `candidates_max` of the sites that fit by themselves. What is alive of the chosen ones fits at every moment. The bound is
// one for any choice of so many sites, of the others too.
Chosen choose_over_time(std::span<const Site> sites, const std::vector<double>& gains, double capacity,
                        size_t candidates_max = SIZE_MAX);

}  // namespace mlrun::sweep
