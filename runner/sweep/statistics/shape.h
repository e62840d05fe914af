// SPDX-License-Identifier: Apache-2.0
// Does a series fall into two groups?
#pragma once

#include <span>

namespace mlrun::sweep {

// From 8 values on: two groups, each with a fifth of the values and three at least, and a gap between them of (2.5 + 20/n) standard
// deviations within the groups, or more. On logarithms where all values are above 0. Noise with one peak, skewed or with
// outliers, is taken for that in fewer than 2 of 100 series; two equal groups are found when their centres are 10 deviations
// apart, or nearer with more values.
bool is_bimodal(std::span<const double> sorted);

}  // namespace mlrun::sweep
