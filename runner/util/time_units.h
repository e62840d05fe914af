// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mlrun::util {

inline constexpr int64_t kNsPerUs = 1'000, kNsPerMs = 1'000'000, kNsPerS = 1'000'000'000;

[[nodiscard]] constexpr double in_seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace mlrun::util
