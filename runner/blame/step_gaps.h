// SPDX-License-Identifier: Apache-2.0
// Finds the gap length that separates steps. Events with a shorter gap between them belong to the same batch.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace mlrun::blame {

// The share of the values from `low` to `high`, both included.
[[nodiscard]] double share_of(const std::vector<double>& values, double low, double high);

inline constexpr size_t kStepsMin = 8;
inline constexpr double kComputeMinNs = 1e6;  // a loop that computes less for each batch is not a training

// `gaps`: how long the driver computes between events. If several gaps could separate steps, `is_loading` decides: it returns whether the driver
// loads data in gaps between two lengths, or std::nullopt if that is unknown.
[[nodiscard]] std::optional<double> gap_between_steps(
    std::vector<double> gaps, double least_ns, const std::function<std::optional<bool>(double, double)>& is_loading);

}  // namespace mlrun::blame
