// SPDX-License-Identifier: Apache-2.0
// Does a series fall into two groups?
#pragma once

#include <span>

namespace mlrun::sweep {

// True if 8 or more values fall into two groups: each has at least a fifth of the values and at least three, and the gap between them is
// at least (2.5 + 20/n) standard deviations within the groups. Computed on logarithms if all values are above 0. Fewer than 2 of 100
// series with one peak (skewed or with outliers, too) are taken for two groups; two equal groups are found if their centres are 10
// deviations apart, or nearer with more values.
bool is_bimodal(std::span<const double> sorted);

}  // namespace mlrun::sweep
