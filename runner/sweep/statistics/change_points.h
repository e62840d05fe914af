// SPDX-License-Identifier: Apache-2.0
// Finds where a series of figures, one for each commit, changes its level: E-divisive means with t tests, as in Hunter (Fleming et al.
// 2023) and its successor Apache Otava.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mlrun::sweep {

struct ChangePoint {
  size_t index = 0;              // the first value of the new level
  double before = 0, after = 0;  // mean from the previous change point to this one, and from this one to the next
  double p = 1;
};

struct ChangePointOptions {
  double greatest_p = 0.001;
  double least_change = 0;  // as a fraction: smaller changes are left out
  size_t window = 50;       // values that are looked at together; windows overlap by half
};

// The change points, by rising index. Requires: all values are finite.
std::vector<ChangePoint> change_points(std::span<const double> values, const ChangePointOptions& options);

}  // namespace mlrun::sweep
