// SPDX-License-Identifier: Apache-2.0
// The system's setting of transparent huge pages, and what it means for --fast huge=SIZE.
#pragma once

#include <cstdint>
#include <string>

#include "runner/util/result.h"

namespace mlrun::sweep {

inline constexpr uint64_t kHugePageBytes = 2 << 20;  // smaller blocks never have huge pages

// Fails if no block can have huge pages. Returns what else is to be known, empty: nothing. `system`: /sys, but for tests.
Result<std::string> huge_setting(const std::string& system = "/sys");

}  // namespace mlrun::sweep
