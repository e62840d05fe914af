// SPDX-License-Identifier: Apache-2.0
// The gap that divides the times between the events of one batch from those between batches.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace mlrun::blame {

// The median; 0 of none.
[[nodiscard]] double middle(std::vector<double> values);
// The share of the values that are not below `low` nor above `high`.
[[nodiscard]] double share_of(const std::vector<double>& values, double low, double high);

inline constexpr size_t kStepsMin = 8;
inline constexpr double kComputeMinNs = 1e6;  // a loop that computes less for a batch is no training

// `gaps`: computing between events. `is_loading`: whether in gaps that are so long the driver loads data; nothing: it is not known. Where
// several gaps divide, that decides.
[[nodiscard]] std::optional<double> gap_between_steps(
    std::vector<double> gaps, double least_ns, const std::function<std::optional<bool>(double, double)>& is_loading);

}  // namespace mlrun::blame
